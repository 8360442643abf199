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
// Why the count of uncertain attempts can be compared exactly. The operator writes down that an attempt departs, and calls the
// provider in the same turn of the event loop (after a long wait the suppression source is asked in between; no strike comes then).
// Its strike comes from setImmediate, when that turn is at rest: each other flight has either both (and its call is whole in the kernel, see processes/witness-provider.ts) or neither. So a message that
// departed under a killed process reached the witness, and is sent again: the second calls that the witness counts are the
// uncertain attempts that the operator reports, no more and no less. The platform is struck in the middle of a turn: behind
// it stands the operator, which must not call a second time whatever the platform forgets.

import assert from 'node:assert/strict'
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
const stopMs = 4_000

const claims = 'SIGKILL and SIGSTOP at every stage lose nothing; each second call is one that was reported as uncertain'

export const kills: Proof = {
  name: 'kills',
  claims,
  boundSeconds: { small: 600, full: 3_600 },
  run: (options, signal) => run(options, signal, false),
}

/** What is claimed together leaves one by one, and is settled in pieces. */
export const killsDevices: Proof = {
  name: 'kills-devices',
  claims: `${claims}; pushes to devices`,
  boundSeconds: { small: 600, full: 3_600 },
  run: (options, signal) => run(options, signal, true),
}

async function run({ small, folder, say }: ProofOptions, signal: AbortSignal, devices: boolean): Promise<Figures> {
  const size = small ? sizes.small : sizes.full
  const stage = await setStage({ folder, operator: { limits, devices }, lane: { ...lane, max: size.max } })
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
  assert.equal(
    summary.uncertain,
    witness.secondCalls,
    'what the operator reports as uncertain is not what the witness saw twice',
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
