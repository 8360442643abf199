import assert from 'node:assert/strict'
import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { admin, enqueue, expand, type OperatorSummary, outcomesOf, untilSettled } from '../harness/http.ts'
import type { Proof } from '../harness/proof.ts'
import { ndjson, type ProvedRecord, records, writeRecords } from '../harness/records.ts'
import { assertSent, sendFile } from '../harness/send-command.ts'
import { setStage } from '../harness/stage.ts'
import { assertBothSidesAgree, assertNoSecondCall } from '../harness/verdict.ts'
import { apiKeys } from '../plans.ts'

export const resend: Proof = {
  name: 'resend',
  claims:
    'a file sent twice delivers nothing twice and returns the first identifiers; one cut in the middle, sent again in full, ends right',
  boundSeconds: { small: 180, full: 900 },
  async run({ small, folder, say }, signal) {
    const count = small ? 1_000 : 50_000
    const stage = await setStage({ folder, lane: { max: 100, spanMs: 20, concurrency: 8 } })
    await Promise.all([stage.operator().ready, stage.platform().ready])
    const { platformUrl } = stage
    const operatorUrl = stage.operatorUrls[0] as string

    // Twice.
    const twice = records(0, count)
    const file = join(folder, 'twice.ndjson')
    await writeRecords(file, twice)
    assertSent(await sendFile(file, platformUrl))
    await untilSettled(platformUrl, signal)
    const before = await refsOf(platformUrl, twice)
    assertSent(await sendFile(file, platformUrl))
    await untilSettled(platformUrl, signal)
    assert.deepEqual(await refsOf(platformUrl, twice), before)
    assert.equal((await stage.testimony()).secondCalls, 0)
    say(`${count} records sent twice`)

    // Twice to the operator itself, as a platform that lost the first answer would.
    const direct = records(count, 100).filter(({ brand }) => brand === '1')
    const first = await sendBatch(operatorUrl, direct)
    assert.equal(first.size, direct.length)
    assert.deepEqual(await sendBatch(operatorUrl, direct), first)
    say(`a batch of ${direct.length} sent twice to the operator: the first identifiers came back`)

    // Cut within a record, then in full.
    const cut = records(count + 100, count)
    const cutFile = join(folder, 'cut.ndjson')
    await writeRecords(cutFile, cut)
    const half = Buffer.byteLength(ndjson(cut.slice(0, count / 2)))
    await truncate(cutFile, half + 40)
    const broken = await sendFile(cutFile, platformUrl)
    assert.notEqual(broken.code, 0, `a file whose last line is cut must not end well:\n${broken.output}`)
    await untilSettled(platformUrl, signal)
    assert.equal((await stage.testimony()).messages.size, count + direct.length + count / 2)
    await writeRecords(cutFile, cut)
    assertSent(await sendFile(cutFile, platformUrl))
    await untilSettled(platformUrl, signal)
    say(`${count} records sent, cut after ${count / 2}, and again in full`)

    const witness = await stage.testimony()
    const summary = await admin<OperatorSummary>(operatorUrl, '/admin/summary')
    assertNoSecondCall(witness, summary)
    const all = [...twice, ...cut]
    const again = await enqueue(platformUrl, 'push', ndjson(all))
    assert.equal(again.repeated, all.length)
    const seqs = expand(again.seqs)
    // What went to the operator directly is not the platform's.
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
  const again = await enqueue(platformUrl, 'push', ndjson(list))
  assert.equal(again.accepted, 0)
  assert.equal(again.repeated, list.length)
  const outcomes = await outcomesOf(platformUrl, expand(again.seqs))
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
  // The ids are larger than a double: they are read as text.
  const text = await response.text()
  return new Map(
    [...text.matchAll(/"id":(\d+),"push_id":"([^"]+)"/g)].map(([, id, ref]) => [id as string, ref as string]),
  )
}
