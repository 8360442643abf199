// Two operators and two platforms on PostgreSQL, fed by `bellwire send`. One process after another is ended at a point of a message's
// way (proofs/kills.ts), by SIGKILL or by SIGTERM, while the others go on. In small size, SIGSTOP also stops processes, at four points
// in both proofs together, because npm test leaves out the proof kills-postgres.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { postgresStore } from '../../bench/harness/stores.ts'
import { admin, enqueue, expandRanges, type OperatorSummary, waitUntilSettled } from '../harness/http.ts'
import { type Process, untilStopped } from '../harness/process.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { ndjson, type ProvedRecord, records, writeRecords } from '../harness/records.ts'
import { retryUntil } from '../harness/retry-until.ts'
import { sendFile } from '../harness/send-command.ts'
import { createSetup, type ProofSetup, planStrike } from '../harness/setup.ts'
import { assertBothSidesAgree } from '../harness/verdict.ts'
import { findNeedlessCalls } from '../harness/witness-report.ts'
import type { Strike } from '../processes/strike.ts'
import { inTurn, operatorPoints, passingOf, platformPoints, shortStopMs, sizes, smallStops } from './kill-plan.ts'

const limits = { providerTimeoutMs: 1_500, answerBudgetMs: 2_000 }
const lane = { spanMs: 10, concurrency: 4, timeoutMs: 2_500, retry: { firstMs: 20, mostMs: 100 } }

const proofOn = (name: string, devices: boolean): Proof => ({
  name,
  claims: `two operators and two platforms on PostgreSQL${devices ? ', pushes to devices' : ''}, fed by bellwire send: SIGKILL and SIGTERM at every point of a message's way lose nothing; second calls are at most as many as uncertain attempts`,
  needs: ['postgres'],
  outlastsLeases: true,
  boundSeconds: { small: 600, full: 3_600 },
  async run(options, signal) {
    await using operatorStore = await postgresStore()
    await using platformStore = await postgresStore()
    const fleet = await startFleet(options, devices, operatorStore.url, platformStore.url)
    return await strikeAllInTurn(fleet, devices, options, signal)
  },
})

export const killsFleet = [proofOn('kills-fleet', false), proofOn('kills-devices-fleet', true)] as const

type Side = 'operator' | 'platform'

/** In small each point has one of them. */
const signals = ['SIGKILL', 'SIGTERM'] as const

const otherThan = (which: 0 | 1): 0 | 1 => (which === 0 ? 1 : 0)

interface Fleet {
  readonly setup: ProofSetup
  readonly running: Readonly<Record<Side, [Process, Process]>>
}

async function startFleet(
  { folder, small }: ProofOptions,
  devices: boolean,
  operatorStore: string,
  platformStore: string,
): Promise<Fleet> {
  const { max } = small ? sizes.small : sizes.full
  const setup = await createSetup({
    folder,
    operators: 2,
    platforms: 2,
    operatorStore,
    platformStore,
    operator: { limits, devices },
    lane: { ...lane, max },
  })
  const running: Fleet['running'] = {
    operator: [setup.operator(), setup.operator(undefined, 1)],
    platform: [setup.platform(), setup.platform(undefined, 1)],
  }
  await Promise.all([...running.operator, ...running.platform].map(({ ready }) => ready))
  return { setup, running }
}

async function strikeAllInTurn(
  fleet: Fleet,
  devices: boolean,
  options: ProofOptions,
  signal: AbortSignal,
): Promise<Figures> {
  const { setup, running } = fleet
  const size = options.small ? sizes.small : sizes.full
  const rounds = options.small ? 1 : 5
  const file = join(options.folder, 'records.ndjson')
  const sent: ProvedRecord[] = []
  const struck = new Set<number>()
  let ends = 0

  const addRecords = (count: number): readonly ProvedRecord[] => {
    const list = records(sent.length, count)
    sent.push(...list)
    return list
  }
  /** Sends a file to a process of the platform, and again to the other one until it was accepted: that repeats nothing. */
  const send = async (count: number, to: number): Promise<void> => {
    await writeRecords(file, addRecords(count))
    for (let which = to; ; which = 1 - which) {
      signal.throwIfAborted()
      const { code } = await sendFile(file, setup.platformUrls[which] as string)
      if (code === 0) return
    }
  }
  const stop = async (side: Side, which: 0 | 1): Promise<void> => {
    const process = running[side][which]
    process.signal('SIGTERM')
    const { code } = await process.ended
    assert.equal(code, 0, `${side} ${which} ended otherwise than by its signal:\n${process.errorOutput()}`)
  }
  /** Resolves when the process is ready, or when it was struck before. */
  const start = async (side: Side, which: 0 | 1, strike?: Strike): Promise<Process> => {
    const process = setup[side](strike, which)
    running[side][which] = process
    await Promise.race([process.ready.catch(() => {}), process.ended])
    return process
  }
  /** Two platforms divide the lanes: the victim has all of them, and reaches its point, if it is alone. */
  const chooseVictim = async (side: Side, which: 0 | 1, strike: Strike): Promise<Process> => {
    if (side === 'platform') await stop(side, otherThan(which))
    const process = running[side][which]
    // A process reads ahead first when it starts. An operator is new when it is killed: second calls after its earlier calls are needless.
    const isNew =
      side === 'platform'
        ? strike.point === 'before-read-ahead'
        : strike.signal === 'SIGKILL' && !struck.has(process.pid)
    if (isNew) {
      await stop(side, which)
      return start(side, which, strike)
    }
    await planStrike(process, strike)
    return process
  }
  const end = async (side: Side, which: 0 | 1, strike: Strike): Promise<void> => {
    const victim = await chooseVictim(side, which, strike)
    let ended = false
    const sending = (async () => {
      while (!ended) await send(strike.point === 'while-enqueueing' ? size.streamed : size.records, which)
    })()
    const result = await victim.ended
    ended = true
    if (strike.signal === 'SIGKILL') struck.add(victim.pid)
    const expected = strike.signal === 'SIGKILL' ? { code: null, signal: 'SIGKILL' } : { code: 0, signal: null }
    assert.deepEqual(result, expected, `ended at ${strike.point} otherwise:\n${victim.errorOutput()}`)
    // bellwire send repeats its request until the process is back.
    const restarted = side === 'platform' ? [start(side, otherThan(which)), start(side, which)] : [start(side, which)]
    await Promise.all([...restarted, sending])
    ends++
    options.print(`${side} ${which} ended by ${strike.signal} ${strike.point}`)
  }

  /** A stopped platform is alone, so its lanes wait for it. The other operator takes over the claims of a stopped one. */
  const suspend = async (side: Side, point: Strike['point']): Promise<void> => {
    const victim = running[side][0]
    if (side === 'platform') await stop(side, 1)
    await planStrike(victim, { point, passing: passingOf(point, 0, size), signal: 'SIGSTOP' })
    struck.add(victim.pid)
    let stopped = false
    const sending = (async () => {
      while (!stopped) {
        const text = ndjson(addRecords(size.records))
        await retryUntil(() => enqueue(setup.platformUrl, 'push', text), signal)
      }
    })()
    await untilStopped(victim, signal)
    stopped = true
    await new Promise((resolve) => setTimeout(resolve, shortStopMs))
    victim.signal('SIGCONT')
    await sending
    await waitUntilSettled(setup.platformUrl, signal)
    if (side === 'platform') await start(side, 1)
    options.print(`${side} 0 stopped for ${shortStopMs} ms ${point}`)
  }

  if (options.small) {
    const divided = { small: true, devices }
    for (const point of inTurn(smallStops.operator, divided)) await suspend('operator', point)
    for (const point of inTurn(smallStops.platform, divided)) await suspend('platform', point)
  }
  for (let round = 0; round < rounds; round++) {
    for (const [side, points] of [
      ['operator', operatorPoints],
      ['platform', platformPoints],
    ] as const)
      for (const [i, point] of inTurn<Strike['point']>(points, { small: options.small, devices }).entries())
        for (const name of options.small ? signals.slice(i % 2, (i % 2) + 1) : signals) {
          const strike: Strike = { point, passing: passingOf(point, round, size), signal: name }
          await end(side, ((round + i) % 2) as 0 | 1, strike)
        }
    options.print(`round ${round + 1}: ${ends} processes ended, ${sent.length} records sent`)
  }

  await waitUntilSettled(setup.platformUrl, signal)
  const summary = await admin<OperatorSummary>(setup.operatorUrls[0] as string, '/admin/summary')
  const witness = await setup.readReport()
  const { seqs, accepted } = await enqueue(setup.platformUrl, 'push', ndjson(sent))
  assert.equal(accepted, 0, 'records that were sent and not stored')
  const numbers = expandRanges(seqs)
  const pairs = sent.map((record, i) => ({ record, seq: numbers[i] as number }))
  await assertBothSidesAgree(pairs, setup.platformUrl, witness)
  assert.deepEqual(findNeedlessCalls(witness, struck).slice(0, 10), [], 'second calls where no answer was lost')
  const { secondCalls, calls, messages } = witness
  options.print(`${sent.length} records, ${calls} calls, ${secondCalls} second calls, ${summary.uncertain} uncertain`)
  assert.ok(secondCalls <= summary.uncertain, `${secondCalls} second calls, ${summary.uncertain} uncertain attempts`)
  return {
    records: sent.length,
    delivered: messages.size,
    ended: ends,
    provider_calls: calls,
    second_calls: secondCalls,
    uncertain: summary.uncertain,
  }
}
