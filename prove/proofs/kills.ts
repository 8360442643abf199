// Kills: SIGKILL at every stage of a message's way, and SIGSTOP for longer than every limit.
//
// How a kill is placed. The process strikes itself, at a point that the code under test passes; no sleep decides. A preload
// (processes/…-strikes.ts) subscribes to the events of src/runtime/events.ts, counts, and strikes at the n-th. Where no
// event says "from now on this message is between X and Y", a part of the proof that the message passes holds it back:
//
//   operator  before the claim                  event message.received: the request is read, its claim comes in a later turn
//             between claim and call            the suppression source is asked after the one and before the other: it strikes, and does not answer
//             between acceptance and settle     the witness's provider has the witness's word: it strikes, and does not hand it back
//             after the settle                  event message.settled; answers are swallowed from then on, so that this one is lost
//   platform  before the put                    an enqueue request has arrived, unread
//             while putting                     event queue.put: some is durable, nobody was answered
//             before reading ahead              event lane.owned
//             between read-ahead and call       event batch.sent
//             between answer and settle         event call.done
//             after the settle                  event item.settled
//
// Uncertain is an upper bound. A message's row says that it was claimed, not whether the call was made, so every attempt that a dead
// process had claimed and not settled counts. Each second call that the witness sees must be among them. On PostgreSQL a second operator is
// never struck: it takes over what the struck one had claimed, also from one that is only stopped, once the lease of its session has passed.

import assert from 'node:assert/strict'
import { postgresStore } from '../../bench/harness/stores.ts'
import { admin, enqueue, expand, type OperatorSummary, untilSettled } from '../harness/http.ts'
import { isStopped, type Process } from '../harness/process.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { ndjson, type ProvedRecord, records } from '../harness/records.ts'
import { setStage } from '../harness/stage.ts'
import { needless } from '../harness/testimony.ts'
import { assertBothSidesAgree, type Sent } from '../harness/verdict.ts'
import type { OperatorPoint, PlatformPoint, Strike } from '../processes/strike.ts'
import { operatorPoints, passing, platformPoints, sizes } from './kill-plan.ts'

/** Small, so that a stop can be longer than each of them; large enough that a busy machine does not pass them by itself. */
const limits = { providerTimeoutMs: 1_500, answerBudgetMs: 2_000 }
const lane = { spanMs: 10, concurrency: 4, timeoutMs: 2_500, retry: { firstMs: 20, mostMs: 100 } }

const claims = 'SIGKILL and SIGSTOP at every stage lose nothing; second calls are at most as many as uncertain attempts'

interface Place {
  /** Pushes go to devices: claimed together, they leave one by one and are settled in pieces. */
  readonly devices: boolean
  readonly operators: number
  readonly operatorStore?: string
  readonly platformStore?: string
  /** Longer than every limit. */
  readonly stopMs: number
}

const onSqlite = (devices: boolean): Place => ({ devices, operators: 1, stopMs: 4_000 })

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
  boundSeconds: { small: 600, full: 3_600 },
  async run(options, signal) {
    const stores = [await postgresStore(), await postgresStore()] as const
    const [operatorStore, platformStore] = [stores[0].url, stores[1].url]
    try {
      // The lease of a session is 10 s.
      return await run(options, signal, { devices, operators: 2, operatorStore, platformStore, stopMs: 13_000 })
    } finally {
      await Promise.all(stores.map((store) => store.remove()))
    }
  },
})

export const killsPostgres = [onPostgres('kills-postgres', false), onPostgres('kills-devices-postgres', true)] as const

async function run({ small, folder, say }: ProofOptions, signal: AbortSignal, place: Place): Promise<Figures> {
  const { devices, stopMs, ...stores } = place
  const size = small ? sizes.small : sizes.full
  const stage = await setStage({ folder, ...stores, operator: { limits, devices }, lane: { ...lane, max: size.max } })
  // Never struck.
  for (let which = 1; which < place.operators; which++) await stage.operator(undefined, which).ready
  const sent: Sent[] = []
  const struck = new Set<number>()
  let made = 0
  let waiting: ProvedRecord[] = []

  const next = (count: number): void => {
    waiting.push(...records(made, count))
    made += count
  }
  /** Sends what waits; a stream that was cut is sent again in full, to the next life of the platform. */
  const send = async (platform: Process): Promise<void> => {
    try {
      await platform.ready
      const answer = await enqueue(stage.platformUrl, 'push', ndjson(waiting))
      assert.equal(answer.refused_count, 0, JSON.stringify(answer.refused))
      const seqs = expand(answer.seqs)
      assert.equal(seqs.length, waiting.length)
      for (const [i, record] of waiting.entries()) sent.push({ record, seq: seqs[i] as number })
      waiting = []
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
      // Its life may have ended before it could answer; that it has, is asserted where it is awaited.
    }
  }
  const killed = async (process: Process, strike: Strike): Promise<void> => {
    const ended = await process.ended
    assert.equal(ended.signal, 'SIGKILL', `struck at ${strike.point}, it ended otherwise:\n${process.words()}`)
    struck.add(process.pid)
  }
  /** With a second operator the struck one may not have got enough messages to reach its point: more are sent until it has. */
  const keepSending = async (operator: Process): Promise<void> => {
    if (place.operators === 1) return
    let ended = false
    void operator.ended.then(() => (ended = true))
    for (;;) {
      for (let i = 0; i < 20 && !ended && !isStopped(operator.pid); i++) await sleep(50)
      if (ended || isStopped(operator.pid)) return
      signal.throwIfAborted()
      next(size.records)
      await send(platform)
    }
  }
  const stoppedAndContinued = async (process: Process): Promise<void> => {
    while (!isStopped(process.pid)) {
      signal.throwIfAborted()
      await sleep(10)
    }
    struck.add(process.pid)
    await sleep(stopMs)
    process.signal('SIGCONT')
  }

  let platform = stage.platform()
  for (const point of operatorPoints) {
    for (let i = 0; i < size.kills; i++) {
      const strike: Strike = { point, passing: passing(point, i, size), signal: 'SIGKILL' }
      const operator = stage.operator(strike)
      next(size.records)
      await send(platform)
      await keepSending(operator)
      await killed(operator, strike)
    }
    say(`operator killed ${size.kills} times ${words(point)}`)
  }

  let operator = stage.operator()
  platform.signal('SIGKILL')
  await platform.ended
  for (const point of platformPoints) {
    for (let i = 0; i < size.kills; i++) {
      const strike: Strike = { point, passing: passing(point, i, size), signal: 'SIGKILL' }
      platform = stage.platform(strike)
      next(point === 'while-putting' ? size.streamed : size.records)
      await Promise.all([send(platform), killed(platform, strike)])
    }
    say(`platform killed ${size.kills} times ${words(point)}`)
  }

  platform = stage.platform()
  await send(platform)
  // Whoever is stopped begins anew. That kill is not placed, so nothing may be under way: it could come between departure and call.
  await untilSettled(stage.platformUrl, signal)
  const stops: readonly OperatorPoint[] = small
    ? ['between-claim-and-call', 'between-acceptance-and-settle']
    : operatorPoints
  for (const point of stops) {
    for (let i = 0; i < size.stops; i++) {
      operator.signal('SIGKILL')
      struck.add(operator.pid)
      await operator.ended
      operator = stage.operator({ point, passing: passing(point, i, size), signal: 'SIGSTOP' })
      next(size.records)
      await send(platform)
      await keepSending(operator)
      await stoppedAndContinued(operator)
      await untilSettled(stage.platformUrl, signal)
    }
    say(`operator stopped for ${stopMs} ms and continued ${words(point)}`)
  }
  const platformStops: readonly PlatformPoint[] = small ? ['between-answer-and-settle'] : platformPoints
  for (const point of platformStops) {
    platform.signal('SIGKILL')
    await platform.ended
    platform = stage.platform({ point, passing: 1, signal: 'SIGSTOP' })
    next(size.records)
    await Promise.all([send(platform), stoppedAndContinued(platform)])
    await untilSettled(stage.platformUrl, signal)
    say(`platform stopped for ${stopMs} ms and continued ${words(point)}`)
  }

  await send(platform)
  assert.equal(waiting.length, 0, 'records were left unsent')
  await untilSettled(stage.platformUrl, signal)
  const summary = await admin<OperatorSummary>(stage.operatorUrls[0] as string, '/admin/summary')
  const witness = await stage.testimony()
  say(
    `${made} records, ${witness.calls} calls, ${witness.secondCalls} second calls, ${summary.uncertain} reported as uncertain`,
  )
  await assertBothSidesAgree(sent, stage.platformUrl, witness)
  assert.deepEqual(needless(witness, struck).slice(0, 10), [], 'second calls where no answer was lost')
  assert.ok(
    witness.secondCalls <= summary.uncertain,
    `${witness.secondCalls} second calls, and only ${summary.uncertain} uncertain attempts`,
  )
  return {
    records: made,
    delivered: witness.messages.size,
    operator_kills: size.kills * operatorPoints.length,
    platform_kills: size.kills * platformPoints.length,
    stops: stops.length * size.stops + platformStops.length,
    provider_calls: witness.calls,
    second_calls: witness.secondCalls,
    uncertain: summary.uncertain,
  }
}

function words(point: string): string {
  return point.replaceAll('-', ' ')
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
