// Three platform processes on one PostgreSQL store are replaced by those of a next release, one after the other, under load.

import assert from 'node:assert/strict'
import { postgresStore, type Store } from '../../bench/harness/stores.ts'
import { query } from '../../test/support/services/postgres.ts'
import { admin, enqueue, expandRanges, type OperatorSummary, waitUntilSettled } from '../harness/http.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { ndjson, type ProvedRecord, records } from '../harness/records.ts'
import { createSetup } from '../harness/setup.ts'
import { assertBothSidesAgree, type SentRecord } from '../harness/verdict.ts'

const sizes = {
  small: { processes: 2, perTurn: 20, turnsBetween: 3, pauseMs: 30 },
  full: { processes: 3, perTurn: 500, turnsBetween: 100, pauseMs: 0 },
}

export const upgrade: Proof = {
  name: 'upgrade',
  claims:
    'three platform processes on one PostgreSQL store are replaced one after the other by a release that extends each table, under load: the earlier release goes on, and starts again, on the extended store; nothing is lost or sent twice, and no process refuses records',
  needs: ['postgres'],
  boundSeconds: { small: 90, full: 600 },
  async run(options, signal) {
    await using store = await postgresStore()
    return await replaceAll(options, store, signal)
  },
}

async function replaceAll({ folder, small, print }: ProofOptions, store: Store, signal: AbortSignal): Promise<Figures> {
  const size = small ? sizes.small : sizes.full
  const setup = await createSetup({ folder, platforms: size.processes, platformStore: store.url })
  const operator = setup.operator()
  const processes = Array.from({ length: size.processes }, (_, index) => index)
  const running = processes.map((index) => setup.platform(undefined, index))
  await Promise.all([operator, ...running].map(({ ready }) => ready))

  const sent: SentRecord[] = []
  const serving = new Set(processes)
  let [turns, longestMs, ended] = [0, 0, false]
  const feeding = (async () => {
    for (; !ended; turns++) {
      signal.throwIfAborted()
      // Like a load balancer: not to a process that is being replaced.
      const to = [...serving][turns % serving.size] as number
      const began = performance.now()
      sent.push(...(await send(setup.platformUrls[to] as string, records(sent.length, size.perTurn))))
      longestMs = Math.max(longestMs, performance.now() - began)
      await pause(size.pauseMs)
    }
  })()
  const turnsPass = async (count: number): Promise<void> => {
    const until = turns + count
    while (turns < until) await Promise.race([feeding, pause(5)])
  }
  const replaced: number[] = []
  const replace = async (index: number, program?: 'next-platform'): Promise<void> => {
    await turnsPass(size.turnsBetween)
    const began = performance.now()
    serving.delete(index)
    // The request in progress is answered.
    await turnsPass(1)
    running[index]?.signal('SIGTERM')
    assert.deepEqual(await running[index]?.ended, { code: 0, signal: null }, running[index]?.errorOutput())
    const next = setup.platform(undefined, index, program)
    running[index] = next
    await next.ready
    serving.add(index)
    replaced.push(performance.now() - began)
    print(
      `process ${index} is ${program ? 'the next release' : 'the earlier release again'} after ${replaced.at(-1)?.toFixed(0)} ms`,
    )
  }

  try {
    await replace(0, 'next-platform')
    await replace(1)
    for (const index of processes.slice(1)) await replace(index, 'next-platform')
    await turnsPass(size.turnsBetween)
  } finally {
    ended = true
  }
  await feeding
  await waitUntilSettled(setup.platformUrl, signal)
  const [extended] = await query(store.url, `select count(*) as n from migrations where name like 'next/%'`)
  assert.ok(Number(extended?.n) > 20, 'the tables are extended')

  const witness = await setup.readReport()
  await assertBothSidesAgree(sent, setup.platformUrl, witness)
  const { uncertain } = await admin<OperatorSummary>(setup.operatorUrls[0] as string, '/admin/summary')
  assert.ok(witness.secondCalls <= uncertain, `${witness.secondCalls} second calls, ${uncertain} uncertain attempts`)
  return {
    records: sent.length,
    delivered: witness.messages.size,
    second_calls: witness.secondCalls,
    replaced_ms_most: Math.round(Math.max(...replaced)),
    enqueue_ms_most: Math.round(longestMs),
  }
}

async function send(url: string, list: readonly ProvedRecord[]): Promise<readonly SentRecord[]> {
  const { accepted, seqs } = await enqueue(url, 'push', ndjson(list))
  assert.equal(accepted, list.length)
  const numbers = expandRanges(seqs)
  return list.map((record, i) => ({ record, seq: numbers[i] as number }))
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
