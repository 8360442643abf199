import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { postgresStore, type Store, storeAt } from '../../bench/harness/stores.ts'
import { createQueue } from '../../src/base/queue/create-queue.ts'
import { on } from '../../src/base/runtime/events.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import { readSingle } from '../../src/contract/read-activity.ts'
import { platformStores } from '../../src/sides/platform/stores.ts'
import { fcm } from '../../src/subjects/providers/fcm/fcm.ts'
import { type FcmStandIn, fcmStandIn } from '../../src/tools/stand-ins/fcm.ts'
import { freePort } from '../../test/support/free-port.ts'
import { query } from '../../test/support/services/postgres.ts'
import { admin, type PlatformSummary, waitUntilSettled } from '../harness/http.ts'
import { startProcess } from '../harness/process.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { createFleet, startPushOperator } from '../harness/push-operator.ts'
import { type ProvedRecord, records } from '../harness/records.ts'
import { type PlatformPlan, planVariable } from '../plans.ts'

type Mode = 'single' | 'batch'

interface Size {
  readonly messages: number
  /** The most messages in a call of a batch lane. */
  readonly max: number
  /** The duration of each part of the outage: 503 with Retry-After, then no answer. */
  readonly partMs: number
  readonly retryAfterSeconds: number
  readonly retry: { readonly firstMs: number; readonly mostMs: number }
  /** The timeouts of operator and platform for a hanging service. */
  readonly timeouts: { readonly service: number; readonly operator: number; readonly platform: number }
}

const full: Size = {
  messages: 100_000,
  max: 500,
  partMs: 60_000,
  retryAfterSeconds: 20,
  retry: { firstMs: 1_000, mostMs: 15_000 },
  timeouts: { service: 15_000, operator: 20_000, platform: 30_000 },
}
const small: Size = {
  messages: 1_000,
  max: 100,
  partMs: 2_500,
  retryAfterSeconds: 1,
  retry: { firstMs: 50, mostMs: 400 },
  timeouts: { service: 2_000, operator: 2_500, platform: 5_000 },
}

/** Small: each engine has one mode, and each mode one engine. */
const smallMode = { SQLite: 'single', PostgreSQL: 'batch' } as const

const concurrency = 4
const maxGrowthBytes = 10 * 1024 * 1024
const minRate = 0.8

export const outageProofs: readonly Proof[] = [
  proofOn('outage', 'SQLite', [], async (folder, name) => fileStore(join(folder, `${name}.db`))),
  proofOn('outage-postgres', 'PostgreSQL', ['postgres'], async () => schemaStore(await postgresStore())),
]

function proofOn(
  name: string,
  engine: keyof typeof smallMode,
  needs: NonNullable<Proof['needs']>,
  newStore: NewStore,
): Proof {
  return {
    name,
    claims: `the push service answers 503 with Retry-After, then hangs, then works (${engine}, single and batch): few requests, small stores, no message given up, all delivered, twice only if an answer was lost, and the backlog is sent at the usual rate`,
    needs,
    boundSeconds: { small: 240, full: 3_000 },
    async run(options, signal) {
      const figures: Record<string, number> = {}
      for (const mode of options.small ? [smallMode[engine]] : (['single', 'batch'] as const))
        for (const [what, value] of Object.entries(await prove(options, mode, newStore, signal))) {
          figures[`${mode}_${what}`] = value
        }
      return figures satisfies Figures
    },
  }
}

async function prove(
  { small: isSmall, folder, print }: ProofOptions,
  mode: Mode,
  newStore: NewStore,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const size = isSmall ? small : full
  // In the small size the rate depends only on the machine.
  const usual = isSmall ? undefined : await drain({ folder, name: `${mode}-usual`, mode, size, newStore }, signal)
  const outage = await drain({ folder, name: `${mode}-outage`, mode, size, newStore, isOutage: true }, signal)
  const rate = usual && outage.perSecond / usual.perSecond
  const limit = maxRequests(size)
  print(
    `${mode}: ${outage.requests} requests with ${outage.carried} messages during the outage (at most ${limit}), ${outage.asked} pushes requested from the service; the stores grew by ${outage.grown} bytes; ${outage.failed} given up; ${outage.delivered} delivered; ${Math.round(outage.perSecond)} a second after it${usual ? `, ${Math.round(usual.perSecond)} without` : ''}`,
  )
  assert.equal(outage.failed, 0, `${mode}: messages were given up`)
  assert.equal(outage.successful, size.messages, `${mode}: not all messages were successful`)
  const doubles = outage.delivered - size.messages
  assert.ok(doubles >= 0, `${mode}: ${-doubles} messages were not delivered`)
  assert.ok(
    doubles <= outage.uncertain,
    `${mode}: ${doubles} messages were delivered twice, but only ${outage.uncertain} uncertain`,
  )
  assert.ok(outage.requests <= limit, `${mode}: ${outage.requests} requests during the outage, more than ${limit}`)
  assert.ok(outage.grown <= maxGrowthBytes, `${mode}: the stores grew by ${outage.grown} bytes during the outage`)
  if (rate !== undefined)
    assert.ok(rate >= minRate, `${mode}: the backlog was sent at ${rate.toFixed(2)} of the usual rate`)
  return {
    requests: outage.requests,
    pushes_asked: outage.asked,
    grown_bytes: outage.grown,
    delivered: outage.delivered,
    uncertain: outage.uncertain,
    per_second: Math.round(outage.perSecond),
    ...(usual && { usual_per_second: Math.round(usual.perSecond) }),
  }
}

/** The calls in flight at the beginning and after a successful probe, plus one probe at a time, spread by jitter. */
function maxRequests({ partMs, retry }: Size): number {
  return 2 * concurrency + 2 * Math.ceil(12 + (4 * partMs) / retry.mostMs)
}

interface DrainOptions {
  readonly folder: string
  readonly name: string
  readonly mode: Mode
  readonly size: Size
  readonly newStore: NewStore
  readonly isOutage?: boolean
}

interface DrainResult {
  /** During the outage: requests to the operator, their messages, requests to the push service, growth of both stores in bytes. */
  readonly requests: number
  readonly carried: number
  readonly asked: number
  readonly grown: number
  readonly successful: number
  readonly failed: number
  /** The number of pushes that the service accepted. */
  readonly delivered: number
  /** The operator's count of uncertain attempts. */
  readonly uncertain: number
  /** The rate from the first accepted push to the last. */
  readonly perSecond: number
}

/** Starts the platform with a backlog in its store, optionally during an outage, and waits until the backlog is sent. */
async function drain(
  { folder, name, mode, size, newStore, isOutage = false }: DrainOptions,
  signal: AbortSignal,
): Promise<DrainResult> {
  const list = records(0, 2 * size.messages).filter(({ brand }) => brand === '1')
  await using platformStore = await newStore(folder, `${name}-platform`)
  await using operatorStore = await newStore(folder, `${name}-operator`)
  await fillQueue(platformStore.url, list)
  const service = await fcmStandIn()
  const fleet = createFleet('fcm_token', list, () => service.device())
  const { ca } = service
  const toFcm = fcm({ serviceAccount: service.credentials, baseUrl: service.url, ...(ca !== undefined && { ca }) })
  const operator = await startPushOperator(operatorStore.url, fleet, [toFcm], undefined, {
    answerBudgetMs: size.timeouts.operator,
    providerTimeoutMs: size.timeouts.service,
  })
  const counts = { requests: 0, carried: 0 }
  const unlisten = on('message.received', ({ count }) => {
    counts.requests++
    counts.carried += count
  })
  const bytes = async (): Promise<number> => (await platformStore.bytes()) + (await operatorStore.bytes())
  const outage = isOutage ? startOutage(service, size) : undefined
  const before = await bytes()
  const platform = await startPlatform(platformStore.url, operator.url, mode, size)
  try {
    if (outage) await outage.wait(signal)
    const { requests, carried } = counts
    const asked = service.arrivals.length
    const grown = (await bytes()) - before
    outage?.end()
    const { successful, failed } = await waitUntilSettled(platform.url, signal)
    const accepted = service.arrivals.filter((each) => each.accepted).map(({ at }) => at)
    const seconds = ((accepted.at(-1) ?? 0) - (accepted[0] ?? 0)) / 1_000
    const perSecond = accepted.length / seconds
    const { uncertain } = await operator.summary()
    return { requests, carried, asked, grown, successful, failed, delivered: accepted.length, uncertain, perSecond }
  } finally {
    unlisten()
    platform.stop()
    await platform.ended
    await operator.stop()
    await service.close()
  }
}

/** Lets the service answer 503 with Retry-After, then hang. `wait` resolves after both parts; `end` ends the outage. */
function startOutage(service: FcmStandIn, { partMs, retryAfterSeconds }: Size) {
  const headers = { 'retry-after': String(retryAfterSeconds) }
  const error = JSON.stringify({ error: { code: 503, message: 'The service is unavailable.', status: 'UNAVAILABLE' } })
  let end = service.play({ answer: { status: 503, headers, body: error } })
  return {
    async wait(signal: AbortSignal): Promise<void> {
      await sleep(partMs, undefined, { signal })
      end()
      // Hanging requests are never accepted.
      end = service.play({ delayMs: 24 * 3_600_000, reset: 'before' })
      await sleep(partMs, undefined, { signal })
    },
    end: () => end(),
  }
}

async function startPlatform(store: string, operator: string, mode: Mode, size: Size) {
  const port = await freePort()
  const lane = {
    mode,
    concurrency,
    max: size.max,
    timeoutMs: size.timeouts.platform,
    retry: { ...size.retry, attempts: 4 },
  }
  const plan: PlatformPlan = { store, port, operators: [operator], lane }
  const { ended, signal } = startProcess(new URL('../processes/platform.ts', import.meta.url), {
    env: { [planVariable]: JSON.stringify(plan) },
  })
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; ; tries++) {
    const answers = await admin<PlatformSummary>(url, '/admin/summary').catch(() => undefined)
    if (answers) return { url, ended, stop: () => signal('SIGKILL') }
    assert.ok(tries < 600, 'the platform did not start')
    await sleep(50)
  }
}

/** Enqueues the messages in the platform's store before the platform starts. */
async function fillQueue(store: string, list: readonly ProvedRecord[]): Promise<void> {
  const database = await openDatabase(store, { migrations: platformStores({ store })[0].migrations })
  const queue = createQueue(database)
  for (let from = 0; from < list.length; from += 1_000) {
    const items = list.slice(from, from + 1_000).map(({ text }) => {
      const read = readSingle(Buffer.from(text))
      if ('invalid' in read) throw new Error(read.invalid)
      return { key: messageKey('push', read), text }
    })
    await queue.enqueue('1/push', items)
  }
  await database.close()
}

interface SizedStore extends Store {
  bytes(): Promise<number>
}
type NewStore = (folder: string, name: string) => Promise<SizedStore>

function fileStore(path: string): SizedStore {
  const bytesOf = (file: string): Promise<number> =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    )
  return {
    ...storeAt(`sqlite:${path}`),
    bytes: async () => (await bytesOf(path)) + (await bytesOf(`${path}-wal`)),
  }
}

function schemaStore(store: Store): SizedStore {
  const { url } = store
  const schema = new URL(url).searchParams.get('schema') as string
  return {
    ...store,
    async bytes() {
      const [row] = await query(
        url,
        `select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes
         from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = '${schema}' and c.relkind = 'r'`,
      )
      return Number(row?.bytes)
    },
  }
}
