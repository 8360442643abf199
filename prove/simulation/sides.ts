// Both sides, composed as createOperator() and createPlatform() do it, but on databases and connections of the simulation.

import type { FastifyInstance } from 'fastify'
import { createAcceptedKeys } from '../../src/base/http/accepted-keys.ts'
import { createHttp } from '../../src/base/http/http.ts'
import { createQueue } from '../../src/base/queue/create-queue.ts'
import type { Queue } from '../../src/base/queue/queue.ts'
import type { Database } from '../../src/base/store/database.ts'
import { sendRoutes } from '../../src/sides/operator/send-routes.ts'
import { deliverLane, providersOf } from '../../src/sides/platform/deliver-lane.ts'
import { createSendPath } from '../../src/subjects/delivery/send-path.ts'
import { throughProvider } from '../../src/subjects/delivery/through-provider.ts'
import { guard } from '../../src/subjects/providers/guard.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import type { Provider } from '../../src/subjects/providers/provider.ts'
import type { Settings } from './settings.ts'

const apiKey = 'the-key-of-the-simulation-0123456789'
const brand = '1'

export async function startOperator(
  database: Database,
  provider: Provider,
  settings: Settings['operator'],
): Promise<FastifyInstance> {
  const { providerConcurrency: concurrency, providerTimeoutMs: timeoutMs, answerBudgetMs, inProgress } = settings
  const app = createHttp('operator', 1024 * 1024)
  const push = createSendPath({
    database,
    delivery: throughProvider(guard(provider, { concurrency, timeoutMs }), concurrency),
    inProgress,
    workMs: answerBudgetMs + timeoutMs,
  })
  sendRoutes(app, {
    keys: createAcceptedKeys([{ name: 'platform', key: apiKey, brands: [brand] }]),
    paths: { push },
    limits: settings,
    signal: new AbortController().signal,
  })
  await app.ready()
  return app
}

type Connect = Parameters<typeof operatorApi>[0]['connect'] & {}

export function startPlatform(database: Database, connect: Connect, settings: Settings['lane']): Queue {
  const queue = createQueue(database)
  const provider = operatorApi({ url: 'http://operator.test', apiKey, connect })
  const lane = { brand, channel: 'push', provider, ...settings } as const
  deliverLane(queue, lane, providersOf(lane)).start()
  return queue
}

export const laneOf = `${brand}/push`
