import assert from 'node:assert/strict'
import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { admin, enqueue, expandRanges, type OperatorSummary, readOutcomes, waitUntilSettled } from '../harness/http.ts'
import type { Proof } from '../harness/proof.ts'
import { ndjson, type ProvedRecord, records, writeRecords } from '../harness/records.ts'
import { assertSent, sendFile } from '../harness/send-command.ts'
import { createSetup } from '../harness/setup.ts'
import { assertBothSidesAgree, assertNoSecondCall } from '../harness/verdict.ts'
import { apiKeys } from '../plans.ts'

export const resend: Proof = {
  name: 'resend',
  claims:
    'a file that is sent twice is delivered once and returns the first identifiers; a file that was cut and sent again in full is delivered once',
  boundSeconds: { small: 180, full: 900 },
  async run({ small, folder, print }, signal) {
    const count = small ? 1_000 : 50_000
    const setup = await createSetup({ folder, lane: { max: 100, spanMs: 20, concurrency: 8 } })
    await Promise.all([setup.operator().ready, setup.platform().ready])
    const { platformUrl } = setup
    const operatorUrl = setup.operatorUrls[0] as string

    // A file that is sent twice.
    const twice = records(0, count)
    const file = join(folder, 'twice.ndjson')
    await writeRecords(file, twice)
    assertSent(await sendFile(file, platformUrl))
    await waitUntilSettled(platformUrl, signal)
    const before = await refsOf(platformUrl, twice)
    assertSent(await sendFile(file, platformUrl))
    await waitUntilSettled(platformUrl, signal)
    assert.deepEqual(await refsOf(platformUrl, twice), before)
    assert.equal((await setup.readReport()).secondCalls, 0)
    print(`${count} records sent twice`)

    // A batch that is sent to the operator twice, as by a platform that lost the first answer.
    const direct = records(count, 100).filter(({ brand }) => brand === '1')
    const first = await sendBatch(operatorUrl, direct)
    assert.equal(first.size, direct.length)
    assert.deepEqual(await sendBatch(operatorUrl, direct), first)
    print(`a batch of ${direct.length} sent twice to the operator: the first identifiers came back`)

    // A file that is cut within a record, and is then sent in full.
    const cut = records(count + 100, count)
    const cutFile = join(folder, 'cut.ndjson')
    await writeRecords(cutFile, cut)
    const half = Buffer.byteLength(ndjson(cut.slice(0, count / 2)))
    await truncate(cutFile, half + 40)
    const broken = await sendFile(cutFile, platformUrl)
    assert.notEqual(broken.code, 0, `a file whose last line is cut must be an error:\n${broken.output}`)
    await waitUntilSettled(platformUrl, signal)
    assert.equal((await setup.readReport()).messages.size, count + direct.length + count / 2)
    await writeRecords(cutFile, cut)
    assertSent(await sendFile(cutFile, platformUrl))
    await waitUntilSettled(platformUrl, signal)
    print(`${count} records sent, cut after ${count / 2}, and again in full`)

    const witness = await setup.readReport()
    const summary = await admin<OperatorSummary>(operatorUrl, '/admin/summary')
    assertNoSecondCall(witness, summary)
    const all = [...twice, ...cut]
    const repeated = await enqueue(platformUrl, 'push', ndjson(all))
    assert.equal(repeated.repeated, all.length)
    const seqs = expandRanges(repeated.seqs)
    // The platform does not know the messages that were sent to the operator directly.
    const throughPlatform = new Map(witness.messages)
    for (const { brand, id, user } of direct) assert.ok(throughPlatform.delete(`${brand}/${id}/${user}`))
    await assertBothSidesAgree(
      all.map((record, i) => ({ record, seq: seqs[i] as number })),
      platformUrl,
      { ...witness, messages: throughPlatform },
    )
    return {
      records: all.length + direct.length,
      sent: count * 3.5 + direct.length * 2,
      delivered: witness.messages.size,
      second_calls: witness.secondCalls,
    }
  },
}

async function refsOf(platformUrl: string, list: readonly ProvedRecord[]): Promise<readonly (string | undefined)[]> {
  const repeated = await enqueue(platformUrl, 'push', ndjson(list))
  assert.equal(repeated.accepted, 0)
  assert.equal(repeated.repeated, list.length)
  const outcomes = await readOutcomes(platformUrl, expandRanges(repeated.seqs))
  for (const { category, error } of outcomes) assert.equal(category, 'successful', error)
  return outcomes.map(({ ref }) => ref)
}

async function sendBatch(operatorUrl: string, list: readonly ProvedRecord[]): Promise<ReadonlyMap<string, string>> {
  const response = await fetch(`${operatorUrl}/channels/push/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKeys['1'] as string },
    body: `[${list.map(({ text }) => text).join(',')}]`,
  })
  assert.equal(response.status, 200)
  // The ids are read as text, because they exceed the precision of a double.
  const text = await response.text()
  return new Map(
    [...text.matchAll(/"id":(\d+),"push_id":"([^"]+)"/g)].map(([, id, ref]) => [id as string, ref as string]),
  )
}
