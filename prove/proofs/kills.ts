// SIGKILL at every point of a message's path, and SIGSTOP for longer than every time limit.
//
// The process strikes itself at a point of the tested code, so the proof depends on no sleep. A preloaded module
// (processes/…-strikes.ts) counts the events of src/base/runtime/events.ts and strikes at the n-th. For points without an event, a component
// of the proof that the message passes strikes instead:
//
//   operator  before the claim                  event message.received: the request is read, the claim comes in a later turn
//             between claim and call            the suppression source is read between the two: it strikes and does not return
//             between acceptance and settle     the witness has answered its provider, which strikes and does not return
//             after the settle                  event message.settled; from then on answers are dropped, so that this answer is lost
//   platform  before enqueueing                 an enqueue request has arrived and is unread
//             while enqueueing                  event queue.enqueued: a part is durable, and no answer was sent
//             before reading ahead              event lane.owned
//             between read-ahead and call       event batch.sent
//             between answer and settle         event call.done
//             after the settle                  event item.settled
//
// "Uncertain" is an upper bound: the row of a message shows its claim, but not whether the call was made. So every attempt that a dead
// process claimed and did not settle is counted, and must include each second call of the witness. On PostgreSQL there is a second
// operator that is never struck. It takes over the claims of the struck operator after the lease, also if that is only stopped.

import assert from 'node:assert/strict'
import { postgresStore } from '../../bench/harness/stores.ts'
import { admin, enqueue, expandRanges, type OperatorSummary, waitUntilSettled } from '../harness/http.ts'
import { isStopped, type Process, untilStopped } from '../harness/process.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { ndjson, type ProvedRecord, records } from '../harness/records.ts'
import { createSetup, planStrike } from '../harness/setup.ts'
import { assertBothSidesAgree, type SentRecord } from '../harness/verdict.ts'
import { findNeedlessCalls } from '../harness/witness-report.ts'
import type { Strike } from '../processes/strike.ts'
import {
  inTurn,
  longStopMs,
  operatorPoints,
  passingOf,
  platformPoints,
  shortStopMs,
  sizes,
  smallStops,
} from './kill-plan.ts'

/** Shorter than a stop, but long enough for a busy machine. */
const limits = { providerTimeoutMs: 1_500, answerBudgetMs: 2_000 }
const lane = { spanMs: 10, concurrency: 4, timeoutMs: 2_500, retry: { firstMs: 20, mostMs: 100 } }

const claims =
  'SIGKILL and SIGSTOP at every point lose no message, and there are at most as many second calls as uncertain attempts'

interface Environment {
  /** Pushes are sent to devices: they are claimed together, but sent and settled separately. */
  readonly devices: boolean
  readonly operators: number
  readonly operatorStore?: string
  readonly platformStore?: string
  readonly stopMs: number
}

const onSqlite = (devices: boolean): Environment => ({ devices, operators: 1, stopMs: shortStopMs })

export const kills: Proof = {
  name: 'kills',
  claims,
  boundSeconds: { small: 600, full: 3_600 },
  run: (options, signal) => run(options, signal, onSqlite(false)),
}

export const killsDevices: Proof = {
  name: 'kills-devices',
  claims: `${claims}; pushes to devices`,
  boundSeconds: { small: 600, full: 3_600 },
  run: (options, signal) => run(options, signal, onSqlite(true)),
}

const onPostgres = (name: string, devices: boolean): Proof => ({
  name,
  claims: `${claims}; two operators and the platform on PostgreSQL${devices ? ', pushes to devices' : ''}`,
  needs: ['postgres'],
  outlastsLeases: true,
  // npm test runs proofs/kills-fleet.ts instead.
  onlyByHand: true,
  boundSeconds: { small: 600, full: 3_600 },
  async run(options, signal) {
    await using operatorStore = await postgresStore()
    await using platformStore = await postgresStore()
    const environment = { devices, operators: 2, operatorStore: operatorStore.url, platformStore: platformStore.url }
    return await run(options, signal, { ...environment, stopMs: options.small ? shortStopMs : longStopMs })
  },
})

export const killsPostgres = [onPostgres('kills-postgres', false), onPostgres('kills-devices-postgres', true)] as const

async function run(
  { small, folder, print }: ProofOptions,
  signal: AbortSignal,
  environment: Environment,
): Promise<Figures> {
  const { devices, stopMs, ...stores } = environment
  const size = small ? sizes.small : sizes.full
  const setup = await createSetup({
    folder,
    ...stores,
    operator: { limits, devices },
    lane: { ...lane, max: size.max },
  })
  // The other operators are never struck.
  for (let i = 1; i < environment.operators; i++) await setup.operator(undefined, i).ready
  const sent: SentRecord[] = []
  const struck = new Set<number>()
  let created = 0
  let waiting: ProvedRecord[] = []

  const addRecords = (count: number): void => {
    waiting.push(...records(created, count))
    created += count
  }
  /** Sends the waiting records. After an interrupted stream, all of them are sent to the next platform process. */
  const send = async (platform: Process): Promise<void> => {
    try {
      await platform.ready
      const answer = await enqueue(setup.platformUrl, 'push', ndjson(waiting))
      assert.equal(answer.refused_count, 0, JSON.stringify(answer.refused))
      const seqs = expandRanges(answer.seqs)
      assert.equal(seqs.length, waiting.length)
      for (const [i, record] of waiting.entries()) sent.push({ record, seq: seqs[i] as number })
      waiting = []
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
      // The platform may have ended before it answered. awaitKill() checks that.
    }
  }
  const awaitKill = async (process: Process, strike: Strike): Promise<void> => {
    const ended = await process.ended
    assert.equal(
      ended.signal,
      'SIGKILL',
      `struck at ${strike.point}, it ended in another way:\n${process.errorOutput()}`,
    )
    struck.add(process.pid)
  }
  /** With a second operator, the first may receive too few messages to reach its point: more are sent until it is struck. */
  const keepSending = async (operator: Process): Promise<void> => {
    if (environment.operators === 1) return
    let ended = false
    void operator.ended.then(() => (ended = true))
    for (;;) {
      for (let i = 0; i < 20 && !ended && !isStopped(operator.pid); i++) await sleep(50)
      if (ended || isStopped(operator.pid)) return
      signal.throwIfAborted()
      addRecords(size.records)
      await send(platform)
    }
  }
  const awaitStopAndContinue = async (process: Process): Promise<void> => {
    await untilStopped(process, signal)
    struck.add(process.pid)
    await sleep(stopMs)
    process.signal('SIGCONT')
  }

  let operator = setup.operator()
  let platform = setup.platform()
  const stops = {
    operator: small ? inTurn(smallStops.operator, { small, devices }) : operatorPoints,
    platform: small ? inTurn(smallStops.platform, { small, devices }) : platformPoints,
  }
  for (const point of stops.operator) {
    for (let i = 0; i < size.stops; i++) {
      await planStrike(operator, { point, passing: passingOf(point, i, size), signal: 'SIGSTOP' })
      addRecords(size.records)
      await send(platform)
      await keepSending(operator)
      await awaitStopAndContinue(operator)
      await waitUntilSettled(setup.platformUrl, signal)
    }
    print(`operator stopped for ${stopMs} ms and continued ${describePoint(point)}`)
  }

  const killPoints = {
    operator: inTurn(operatorPoints, { small, devices }),
    platform: inTurn(platformPoints, { small, devices }),
  }
  for (const point of killPoints.operator) {
    for (let i = 0; i < size.kills; i++) {
      const strike: Strike = { point, passing: passingOf(point, i, size), signal: 'SIGKILL' }
      await planStrike(operator, strike)
      addRecords(size.records)
      await send(platform)
      await keepSending(operator)
      await awaitKill(operator, strike)
      operator = setup.operator()
    }
    print(`operator killed ${size.kills} times ${describePoint(point)}`)
  }

  platform.signal('SIGKILL')
  await platform.ended
  for (const point of killPoints.platform) {
    for (let i = 0; i < size.kills; i++) {
      const strike: Strike = { point, passing: passingOf(point, i, size), signal: 'SIGKILL' }
      platform = setup.platform(strike)
      addRecords(point === 'while-enqueueing' ? size.streamed : size.records)
      await Promise.all([send(platform), awaitKill(platform, strike)])
    }
    print(`platform killed ${size.kills} times ${describePoint(point)}`)
  }

  for (const point of stops.platform) {
    platform.signal('SIGKILL')
    await platform.ended
    platform = setup.platform({ point, passing: 1, signal: 'SIGSTOP' })
    addRecords(size.records)
    await Promise.all([send(platform), awaitStopAndContinue(platform)])
    await waitUntilSettled(setup.platformUrl, signal)
    print(`platform stopped for ${stopMs} ms and continued ${describePoint(point)}`)
  }

  await send(platform)
  assert.equal(waiting.length, 0, 'some records were not sent')
  await waitUntilSettled(setup.platformUrl, signal)
  const summary = await admin<OperatorSummary>(setup.operatorUrls[0] as string, '/admin/summary')
  const witness = await setup.readReport()
  print(
    `${created} records, ${witness.calls} calls, ${witness.secondCalls} second calls, ${summary.uncertain} reported as uncertain`,
  )
  await assertBothSidesAgree(sent, setup.platformUrl, witness)
  assert.deepEqual(findNeedlessCalls(witness, struck).slice(0, 10), [], 'second calls although no answer was lost')
  assert.ok(
    witness.secondCalls <= summary.uncertain,
    `${witness.secondCalls} second calls, but only ${summary.uncertain} uncertain attempts`,
  )
  return {
    records: created,
    delivered: witness.messages.size,
    operator_kills: size.kills * killPoints.operator.length,
    platform_kills: size.kills * killPoints.platform.length,
    stops: size.stops * stops.operator.length + stops.platform.length,
    provider_calls: witness.calls,
    second_calls: witness.secondCalls,
    uncertain: summary.uncertain,
  }
}

function describePoint(point: string): string {
  return point.replaceAll('-', ' ')
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
