// The platform's side: lanes that call operators, and the API that fills and shows them. Routes and composition only.

import { readMessageKey } from '../contract/message-key.ts'
import { callMigrations, forgetCalls } from '../providers/calls.ts'
import { guard } from '../providers/guard.ts'
import type { Message } from '../providers/provider.ts'
import { createQueue, queueMigrations } from '../queue/create-queue.ts'
import type { Item, Lane, LaneService } from '../queue/queue.ts'
import { adminRoutes } from '../runtime/admin-access.ts'
import { breakerDefaults } from '../runtime/breaker.ts'
import { healthRoutes } from '../runtime/health.ts'
import { createHttp } from '../runtime/http.ts'
import { uuidv7 } from '../runtime/ids.ts'
import { metrics } from '../runtime/metrics.ts'
import { createRetention, keptByDefaultMs } from '../runtime/retention.ts'
import { type Composed, createService, type Service } from '../runtime/service.ts'
import type { Migration } from '../store/database.ts'
import { openDatabase } from '../store/open-database.ts'
import { ping } from '../store/ping.ts'
import { platformAdmin } from './admin.ts'
import { laneName } from './enqueue.ts'
import type { LaneOptions, PlatformOptions } from './options.ts'

export const platformMigrations: readonly Migration[] = [...queueMigrations, ...callMigrations]

export type Platform = Service

/**
 * A platform's engine, ready to be mounted. Reads nothing from disk or environment but its store.
 *
 * @example
 * const platform = createPlatform({
 *   store: 'sqlite:./platform.db',
 *   keys: [{ name: 'crm', key: process.env.CRM_KEY, scopes: ['enqueue', 'read'] }],
 *   lanes: [{ brand: '1', channel: 'push', mode: 'batch', provider: operatorApi({ baseUrl, apiKey, channel: 'push', mode: 'batch' }) }],
 * })
 * await platform.start()
 * http.createServer(platform.handler).listen(8081)
 */
export function createPlatform(options: PlatformOptions): Platform {
  return createService('platform', (stopping) => compose(options, stopping))
}

async function compose(options: PlatformOptions, signal: AbortSignal): Promise<Composed> {
  const database = await openDatabase(options.store, { migrations: platformMigrations })
  const queue = createQueue(database)
  const services = options.lanes.map((lane) => ({ lane, service: serveLane(queue, lane) }))

  const app = createHttp('platform', options.bodyBytes ?? 16 * 1024 * 1024)
  // A stream of any length is not collected first.
  app.addContentTypeParser(['application/x-ndjson', 'application/jsonl'], (_request, body, done) => done(null, body))
  adminRoutes(app, options.keys, platformAdmin({ queue, lanes: services.map(({ service }) => service) }))
  healthRoutes(app, { check: () => ping(database), signal })
  await app.ready()
  for (const { service } of services) service.start()
  const keptMs = options.keptMs ?? keptByDefaultMs
  const forgetting = createRetention([
    { keptMs, forget: (before) => queue.forget(before) },
    { keptMs, forget: (before) => forgetCalls(database, before) },
  ])
  forgetting.start()
  const unmeasure = metrics().depths(async () =>
    (await queue.count()).map(({ lane, category, items }) => ({ lane, state: category, count: items })),
  )

  return {
    handler: (request, response) => app.routing(request, response),
    async close(withinMs) {
      unmeasure()
      await forgetting.stop()
      await Promise.all(services.map(({ service }) => service.stop(withinMs)))
      await app.close()
      await Promise.all(options.lanes.map(({ provider }) => provider.close?.()))
      await database.close()
    },
  }
}

const laneDefaults = { max: 500, bytes: 4 * 1024 * 1024, spanMs: 200, concurrency: 4, timeoutMs: 30_000 }

function serveLane(queue: ReturnType<typeof createQueue>, options: LaneOptions): LaneService {
  const { brand, channel, provider, mode } = options
  const timeoutMs = options.timeoutMs ?? laneDefaults.timeoutMs
  const concurrency = options.concurrency ?? laneDefaults.concurrency
  const single = mode === 'single'
  const lane: Lane = {
    name: laneName(brand, channel),
    order: 'none',
    max: single ? 1 : Math.min(options.max ?? laneDefaults.max, provider.max),
    bytes: options.bytes ?? laneDefaults.bytes,
    spanMs: single ? 0 : (options.spanMs ?? laneDefaults.spanMs),
    concurrency,
    ...(options.perSecond !== undefined && { perSecond: options.perSecond }),
    timeoutMs,
    keepFailed: options.failedActions ?? true,
    retry: {
      firstMs: options.retry?.firstMs ?? 1_000,
      mostMs: options.retry?.mostMs ?? 300_000,
      ...(options.retry?.attempts !== undefined && { attempts: options.retry.attempts }),
    },
  }
  const { firstMs, mostMs } = lane.retry
  const guarded = guard(provider, { concurrency, timeoutMs, breaker: { ...breakerDefaults, firstMs, mostMs } })
  return queue.serve(lane, (items, context) =>
    guarded.send(
      items.map((item) => toMessage(item, brand)),
      context,
    ),
  )
}

function toMessage(item: Item, brand: string): Message {
  const { channel, id, userId } = readMessageKey(item.key)
  return {
    brand,
    channel,
    id,
    userId,
    key: item.key,
    // The operator mints the identifier that counts; a provider of our own finds the first one by the key.
    ref: uuidv7(),
    text: item.text,
    attempt: item.attempt,
    context: item.traceparent === undefined ? {} : { traceparent: item.traceparent },
  }
}
