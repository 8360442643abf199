import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { postgresStore, type Store } from '../../bench/harness/stores.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import { readSingle } from '../../src/contract/read-activity.ts'
import { platformStores } from '../../src/platform/create-platform.ts'
import { fcm } from '../../src/providers/fcm/fcm.ts'
import { createQueue } from '../../src/queue/create-queue.ts'
import { on } from '../../src/runtime/events.ts'
import { type FcmStandIn, fcmStandIn } from '../../src/stand-ins/fcm.ts'
import { openDatabase } from '../../src/store/open-database.ts'
import { freePort } from '../../test/support/free-port.ts'
import { query } from '../../test/support/services/postgres.ts'
import { admin, type PlatformSummary, untilSettled } from '../harness/http.ts'
import { startProcess } from '../harness/process.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { makeFleet, startPushOperator } from '../harness/push-operator.ts'
import { type ProvedRecord, records } from '../harness/records.ts'
import { type PlatformPlan, planVariable } from '../plans.ts'

type Mode = 'single' | 'batch'

interface Size {
  readonly messages: number
  /** Each of the two parts of the outage: 503 with Retry-After, then no answer at all. */
  readonly partMs: number
  readonly retryAfterSeconds: number
  readonly retry: { readonly firstMs: number; readonly mostMs: number }
  /** What the operator and the platform give a service that hangs. */
  readonly timeouts: { readonly service: number; readonly operator: number; readonly platform: number }
}

const full: Size = {
  messages: 100_000,
  partMs: 60_000,
  retryAfterSeconds: 20,
  retry: { firstMs: 1_000, mostMs: 15_000 },
  timeouts: { service: 15_000, operator: 20_000, platform: 30_000 },
}
const small: Size = {
  messages: 3_000,
  partMs: 2_500,
  retryAfterSeconds: 1,
  retry: { firstMs: 50, mostMs: 400 },
  timeouts: { service: 1_000, operator: 1_500, platform: 5_000 },
}

const concurrency = 4
const mostGrowth = 10 * 1024 * 1024
const leastRate = 0.8

export const outageProofs: readonly Proof[] = [
  proofOn('outage', 'SQLite', [], async (folder, name) => fileStore(join(folder, `${name}.db`))),
  proofOn('outage-postgres', 'PostgreSQL', ['postgres'], async () => schemaStore(await postgresStore())),
]

function proofOn(name: string, engine: string, needs: NonNullable<Proof['needs']>, newStore: NewStore): Proof {
  return {
    name,
    claims: `the push service answers 503 with Retry-After, then hangs, then works, both sides on ${engine}, single and batch: few requests, small stores, no message given up, all delivered, twice only where an answer was lost, and the backlog leaves as fast as ever`,
    needs,
    boundSeconds: { small: 240, full: 3_000 },
    async run(options, signal) {
      const figures: Record<string, number> = {}
      for (const mode of ['single', 'batch'] as const)
        for (const [what, value] of Object.entries(await prove(options, mode, newStore, signal))) {
          figures[`${mode}_${what}`] = value
        }
      return figures satisfies Figures
    },
  }
}

async function prove(
  { small: isSmall, folder, say }: ProofOptions,
  mode: Mode,
  newStore: NewStore,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const size = isSmall ? small : full
  const before = await drain({ folder, name: `${mode}-usual`, mode, size, newStore }, signal)
  const outage = await drain({ folder, name: `${mode}-outage`, mode, size, newStore, out: true }, signal)
  const rate = outage.perSecond / before.perSecond
  const most = mostRequests(size)
  say(
    `${mode}: ${outage.requests} requests with ${outage.carried} messages during the outage (at most ${most}), ${outage.asked} pushes asked of the service; the stores grew by ${outage.grown} bytes; ${outage.failed} given up; ${outage.delivered} delivered; ${Math.round(outage.perSecond)} a second after it, ${Math.round(before.perSecond)} without (${rate.toFixed(2)})`,
  )
  assert.equal(outage.failed, 0, `${mode}: messages were given up`)
  assert.equal(outage.successful, size.messages, `${mode}: not all were successful`)
  const doubles = outage.delivered - size.messages
  assert.ok(doubles >= 0, `${mode}: ${-doubles} were not delivered`)
  assert.ok(doubles <= outage.uncertain, `${mode}: ${doubles} doubles, and only ${outage.uncertain} uncertain`)
  assert.ok(outage.requests <= most, `${mode}: ${outage.requests} requests during the outage, more than ${most}`)
  assert.ok(outage.grown <= mostGrowth, `${mode}: the stores grew by ${outage.grown} bytes during the outage`)
  // In the small size the rate says something of the machine only.
  if (!isSmall) assert.ok(rate >= leastRate, `${mode}: the backlog left at ${rate.toFixed(2)} of the usual rate`)
  return {
    requests: outage.requests,
    pushes_asked: outage.asked,
    grown_bytes: outage.grown,
    delivered: outage.delivered,
    uncertain: outage.uncertain,
    per_second: Math.round(outage.perSecond),
    usual_per_second: Math.round(before.perSecond),
  }
}

/** The calls under way when it begins, and again after a probe that went through; then one probe at a time, spread by jitter. */
function mostRequests({ partMs, retry }: Size): number {
  return 2 * concurrency + 2 * Math.ceil(12 + (4 * partMs) / retry.mostMs)
}

interface Run {
  readonly folder: string
  readonly name: string
  readonly mode: Mode
  readonly size: Size
  readonly newStore: NewStore
  readonly out?: boolean
}

interface Drained {
  /** During the outage: requests to the operator, messages in them, pushes that the service was asked for, bytes on both sides. */
  readonly requests: number
  readonly carried: number
  readonly asked: number
  readonly grown: number
  readonly successful: number
  readonly failed: number
  /** Pushes that the service accepted. */
  readonly delivered: number
  /** Attempts whose answer never came, as the operator counts them. */
  readonly uncertain: number
  /** From the first push that it accepted to the last. */
  readonly perSecond: number
}

/** A backlog that waits in the platform's store when it starts; with `out`, so does an outage. */
async function drain({ folder, name, mode, size, newStore, out = false }: Run, signal: AbortSignal): Promise<Drained> {
  const list = records(0, 2 * size.messages).filter(({ brand }) => brand === '1')
  const [ofPlatform, ofOperator] = [
    await newStore(folder, `${name}-platform`),
    await newStore(folder, `${name}-operator`),
  ]
  await fill(ofPlatform.url, list)
  const service = await fcmStandIn()
  const fleet = makeFleet('fcm_token', list, () => service.device())
  const { ca } = service
  const toFcm = fcm({ serviceAccount: service.credentials, baseUrl: service.url, ...(ca !== undefined && { ca }) })
  const operator = await startPushOperator(ofOperator.url, fleet, [toFcm], undefined, {
    answerBudgetMs: size.timeouts.operator,
    providerTimeoutMs: size.timeouts.service,
  })
  const counted = { requests: 0, carried: 0 }
  const uncount = on('message.received', ({ count }) => {
    counted.requests++
    counted.carried += count
  })
  const bytes = async (): Promise<number> => (await ofPlatform.bytes()) + (await ofOperator.bytes())
  const heal = out ? breakService(service, size) : undefined
  const before = await bytes()
  const platform = await startPlatform(ofPlatform.url, operator.url, mode, size)
  try {
    if (heal) await heal.whole(signal)
    const { requests, carried } = counted
    const asked = service.arrivals.length
    const grown = (await bytes()) - before
    heal?.end()
    const { successful, failed } = await untilSettled(platform.url, signal)
    const accepted = service.arrivals.filter((each) => each.accepted).map(({ at }) => at)
    const seconds = ((accepted.at(-1) ?? 0) - (accepted[0] ?? 0)) / 1_000
    const perSecond = accepted.length / seconds
    const { uncertain } = await operator.summary()
    return { requests, carried, asked, grown, successful, failed, delivered: accepted.length, uncertain, perSecond }
  } finally {
    uncount()
    platform.stop()
    await platform.ended
    await operator.stop()
    await service.close()
    await Promise.all([ofPlatform.remove(), ofOperator.remove()])
  }
}

/** 503 with Retry-After at once; `whole` ends when it has hung for as long, and `end` lets it work again. */
function breakService(service: FcmStandIn, { partMs, retryAfterSeconds }: Size) {
  const headers = { 'retry-after': String(retryAfterSeconds) }
  const error = JSON.stringify({ error: { code: 503, message: 'The service is away.', status: 'UNAVAILABLE' } })
  let end = service.play({ answer: { status: 503, headers, body: error } })
  return {
    async whole(signal: AbortSignal): Promise<void> {
      await sleep(partMs, undefined, { signal })
      end()
      // Nothing that hangs is accepted later.
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
    max: 500,
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
    assert.ok(tries < 600, 'the platform does not start')
    await sleep(50)
  }
}

/** Puts the messages where the platform finds them when it starts. */
async function fill(store: string, list: readonly ProvedRecord[]): Promise<void> {
  const database = await openDatabase(store, { migrations: platformStores(store)[0]?.migrations ?? [] })
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
    url: `sqlite:${path}`,
    bytes: async () => (await bytesOf(path)) + (await bytesOf(`${path}-wal`)),
    remove: async () => {},
  }
}

function schemaStore({ url, remove }: Store): SizedStore {
  const schema = new URL(url).searchParams.get('schema') as string
  return {
    url,
    remove,
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
