import assert from 'node:assert/strict'
import { join } from 'node:path'
import { postgresStore } from '../../bench/harness/stores.ts'
import { admin, enqueue, expandRanges, type OperatorSummary, waitUntilSettled } from '../harness/http.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { ndjson, records, writeRecords } from '../harness/records.ts'
import { assertSent, sendFile } from '../harness/send-command.ts'
import { createSetup, type SetupOptions } from '../harness/setup.ts'
import { assertBothSidesAgree, assertNoSecondCall } from '../harness/verdict.ts'

/** Sends a file with `bellwire send` through platform and operator, and counts the calls to the provider. */
async function sendOnce(
  options: ProofOptions,
  signal: AbortSignal,
  setupOptions: Partial<SetupOptions>,
): Promise<Figures> {
  const { small, folder, print } = options
  const count = small ? 2_000 : 100_000
  const setup = await createSetup({ folder, lane: { max: 100, spanMs: 20, concurrency: 8 }, ...setupOptions })
  const operators = setup.operatorUrls.map((_, which) => setup.operator(undefined, which))
  await Promise.all([...operators.map(({ ready }) => ready), setup.platform().ready])
  const list = records(0, count)
  const file = join(folder, 'activities.ndjson')
  await writeRecords(file, list)

  const began = performance.now()
  assertSent(await sendFile(file, setup.platformUrl))
  await waitUntilSettled(setup.platformUrl, signal)
  const seconds = (performance.now() - began) / 1000
  print(`${count} records sent and settled in ${seconds.toFixed(1)} s`)

  const witness = await setup.readReport()
  const summary = await admin<OperatorSummary>(setup.operatorUrls[0] as string, '/admin/summary')
  assert.equal(summary.successful, count)
  // Enqueueing the records again returns their numbers.
  const repeated = await enqueue(setup.platformUrl, 'push', ndjson(list))
  assert.equal(repeated.repeated, count)
  const seqs = expandRanges(repeated.seqs)
  await assertBothSidesAgree(
    list.map((record, i) => ({ record, seq: seqs[i] as number })),
    setup.platformUrl,
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
  claims:
    'a file is sent with bellwire send in batch mode, both sides on SQLite: all messages are successful and delivered once',
  // npm test runs proofs/resend.ts: its first file has this claim.
  onlyByHand: true,
  boundSeconds: { small: 120, full: 600 },
  run: (options, signal) => sendOnce(options, signal, {}),
}

export const exactlyOncePostgres: Proof = {
  name: 'exactly-once-postgres',
  claims: 'the same with two operator processes on one PostgreSQL, called alternately',
  needs: ['postgres'],
  boundSeconds: { small: 180, full: 600 },
  async run(options, signal) {
    await using store = await postgresStore()
    return await sendOnce(options, signal, { operators: 2, operatorStore: store.url })
  },
}
