import assert from 'node:assert/strict'
import { join } from 'node:path'
import { postgresStore } from '../../bench/harness/stores.ts'
import { admin, enqueue, expand, type OperatorSummary, untilSettled } from '../harness/http.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { ndjson, records, writeRecords } from '../harness/records.ts'
import { assertSent, sendFile } from '../harness/send-command.ts'
import { type StageOptions, setStage } from '../harness/stage.ts'
import { assertBothSidesAgree, assertNoSecondCall } from '../harness/verdict.ts'

/** A file through `bellwire send`, the platform, the operator, to the provider; counted there. */
async function sendOnce(
  options: ProofOptions,
  signal: AbortSignal,
  stageOptions: Partial<StageOptions>,
): Promise<Figures> {
  const { small, folder, say } = options
  const count = small ? 2_000 : 100_000
  const stage = await setStage({ folder, lane: { max: 100, spanMs: 20, concurrency: 8 }, ...stageOptions })
  const operators = stage.operatorUrls.map((_, which) => stage.operator(undefined, which))
  await Promise.all([...operators.map(({ ready }) => ready), stage.platform().ready])
  const list = records(0, count)
  const file = join(folder, 'activities.ndjson')
  await writeRecords(file, list)

  const began = performance.now()
  assertSent(await sendFile(file, stage.platformUrl))
  await untilSettled(stage.platformUrl, signal)
  const seconds = (performance.now() - began) / 1000
  say(`${count} records sent and settled in ${seconds.toFixed(1)} s`)

  const witness = await stage.testimony()
  const summary = await admin<OperatorSummary>(stage.operatorUrls[0] as string, '/admin/summary')
  assert.equal(summary.successful, count)
  // Sent again, the records are known: that is how their numbers are had here.
  const again = await enqueue(stage.platformUrl, 'push', ndjson(list))
  assert.equal(again.repeated, count)
  const seqs = expand(again.seqs)
  await assertBothSidesAgree(
    list.map((record, i) => ({ record, seq: seqs[i] as number })),
    stage.platformUrl,
    witness,
  )
  assertNoSecondCall(witness, summary)
  return {
    records: count,
    delivered: witness.messages.size,
    second_calls: witness.secondCalls,
    uncertain: summary.uncertain,
    per_second: Math.round(count / seconds),
  }
}

export const exactlyOnce: Proof = {
  name: 'exactly-once',
  claims: 'a file through bellwire send, in batch mode, both sides on SQLite: all successful, each delivered once',
  boundSeconds: { small: 120, full: 600 },
  run: (options, signal) => sendOnce(options, signal, {}),
}

export const exactlyOncePostgres: Proof = {
  name: 'exactly-once-postgres',
  claims: 'the same with two processes of the operator on one PostgreSQL, called in turn',
  needs: ['postgres'],
  boundSeconds: { small: 180, full: 600 },
  async run(options, signal) {
    const store = await postgresStore()
    try {
      return await sendOnce(options, signal, { operators: 2, operatorStore: store.url })
    } finally {
      await store.remove()
    }
  },
}
