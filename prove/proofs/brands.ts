import assert from 'node:assert/strict'
import { admin, enqueue, expandRanges, type OperatorSummary, readOutcomes, waitUntilSettled } from '../harness/http.ts'
import type { Proof } from '../harness/proof.ts'
import { nameOf, ndjson, record, records } from '../harness/records.ts'
import { createSetup } from '../harness/setup.ts'
import { findIdentifierConflicts } from '../harness/witness-report.ts'
import { apiKeys } from '../plans.ts'
import { blocked } from '../processes/suppression.ts'

export const brands: Proof = {
  name: 'brands',
  claims: 'two brands with equal user ids and activity ids are separate: sends, suppression, keys and inbox',
  boundSeconds: { small: 120, full: 600 },
  async run({ small, folder, print }, signal) {
    const count = small ? 2_000 : 50_000
    const setup = await createSetup({
      folder,
      operator: { oneBlocked: true },
      lane: { max: 100, spanMs: 20, concurrency: 8 },
    })
    await Promise.all([setup.operator().ready, setup.platform().ready])
    const { platformUrl } = setup
    const operatorUrl = setup.operatorUrls[0] as string
    const list = records(0, count)
    const isBlocked = ({ brand, user }: { brand: string; user: string }): boolean =>
      brand === blocked.brand && user === blocked.user
    const suppressed = list.filter(isBlocked)

    // Push: an equal id and user in both brands are two messages to two users, of whom one is blocked.
    const answer = await enqueue(platformUrl, 'push', ndjson(list))
    assert.equal(answer.accepted, count)
    await waitUntilSettled(platformUrl, signal)
    const outcomes = await readOutcomes(platformUrl, expandRanges(answer.seqs))
    const witness = await setup.readReport()
    assert.deepEqual(findIdentifierConflicts(witness), [])
    for (const [i, each] of list.entries()) {
      const outcome = outcomes[i]
      const seen = witness.messages.get(nameOf(each))
      assert.equal(outcome?.category, isBlocked(each) ? 'failed' : 'successful', `${nameOf(each)}: ${outcome?.error}`)
      assert.equal(seen?.length ?? 0, isBlocked(each) ? 0 : 1, `${nameOf(each)} had ${seen?.length ?? 0} calls`)
      if (seen) assert.equal(seen[0]?.ref, outcome.ref)
    }
    print(`${count} pushes: ${witness.messages.size} delivered, ${suppressed.length} of a blocked user refused`)

    // A key is valid for its own brand only: the message of another brand is fatal and not sent.
    const foreign = record(count + 1) // brand 2
    const refused = await fetch(`${operatorUrl}/channels/push/single`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKeys['1'] as string },
      body: foreign.text,
    })
    assert.equal(refused.status, 503)
    assert.equal((await setup.readReport()).messages.get(nameOf(foreign)), undefined)

    // On-site: each brand has a user 1002, whose inbox shows only the notifications of that brand.
    const site = records(0, small ? 200 : 2_000)
    const enqueuedSite = await enqueue(platformUrl, 'site', ndjson(site))
    assert.equal(enqueuedSite.accepted, site.length)
    await waitUntilSettled(platformUrl, signal)
    const siteRefs = new Map(
      (await readOutcomes(platformUrl, expandRanges(enqueuedSite.seqs))).map(({ ref }, i) => [ref as string, site[i]]),
    )
    const shown: string[] = []
    for (const brand of ['1', '2']) {
      const refs = await inboxOf(operatorUrl, brand, '1002')
      assert.ok(refs.length > 0, `the inbox of 1002 of brand ${brand} is empty`)
      for (const ref of refs) assert.deepEqual(pick(siteRefs.get(ref)), { brand, user: '1002' })
      shown.push(...refs)
    }
    assert.equal(new Set(shown).size, shown.length, 'a notification was shown in both inboxes')
    print(`the inboxes of the two users 1002 show ${shown.length} notifications, each of its own brand`)

    const summary = await admin<OperatorSummary>(operatorUrl, '/admin/summary')
    return {
      records: count + site.length,
      delivered: witness.messages.size,
      suppressed: suppressed.length,
      shown: shown.length,
      second_calls: witness.secondCalls,
      uncertain: summary.uncertain,
    }
  },
}

async function inboxOf(operatorUrl: string, brand: string, user: string): Promise<readonly string[]> {
  const { token } = await admin<{ token: string }>(operatorUrl, '/admin/subscriber-tokens', { brand, user_id: user })
  const response = await fetch(`${operatorUrl}/app/inbox`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(response.status, 200)
  const { items } = (await response.json()) as { items: readonly { site_notification_id: string }[] }
  return items.map(({ site_notification_id: ref }) => ref)
}

function pick(sent: { readonly brand: string; readonly user: string } | undefined): object {
  return { brand: sent?.brand, user: sent?.user }
}
