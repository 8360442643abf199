import assert from 'node:assert/strict'
import { admin, enqueue, expand, type OperatorSummary, outcomesOf, untilSettled } from '../harness/http.ts'
import type { Proof } from '../harness/proof.ts'
import { nameOf, ndjson, record, records } from '../harness/records.ts'
import { setStage } from '../harness/stage.ts'
import { confused } from '../harness/testimony.ts'
import { apiKeys } from '../plans.ts'
import { blocked } from '../processes/suppression.ts'

export const brands: Proof = {
  name: 'brands',
  claims: 'two brands with the same user ids and the same activity ids never meet: sends, suppression, keys, inbox',
  boundSeconds: { small: 120, full: 600 },
  async run({ small, folder, say }, signal) {
    const count = small ? 2_000 : 50_000
    const stage = await setStage({
      folder,
      operator: { oneBlocked: true },
      lane: { max: 100, spanMs: 20, concurrency: 8 },
    })
    await Promise.all([stage.operator().ready, stage.platform().ready])
    const { platformUrl } = stage
    const operatorUrl = stage.operatorUrls[0] as string
    const list = records(0, count)
    const isBlocked = ({ brand, user }: { brand: string; user: string }): boolean =>
      brand === blocked.brand && user === blocked.user
    const suppressed = list.filter(isBlocked)

    // Push: the same id and user in both brands are two messages to two people, one of whom is blocked.
    const answer = await enqueue(platformUrl, 'push', ndjson(list))
    assert.equal(answer.accepted, count)
    await untilSettled(platformUrl, signal)
    const outcomes = await outcomesOf(platformUrl, expand(answer.seqs))
    const witness = await stage.testimony()
    assert.deepEqual(confused(witness), [])
    for (const [i, each] of list.entries()) {
      const outcome = outcomes[i]
      const seen = witness.messages.get(nameOf(each))
      assert.equal(outcome?.category, isBlocked(each) ? 'failed' : 'successful', `${nameOf(each)}: ${outcome?.error}`)
      assert.equal(seen?.length ?? 0, isBlocked(each) ? 0 : 1, `${nameOf(each)} had ${seen?.length ?? 0} calls`)
      if (seen) assert.equal(seen[0]?.ref, outcome.ref)
    }
    say(`${count} pushes: ${witness.messages.size} delivered, ${suppressed.length} of a blocked user refused`)

    // A key opens its own brand only: the message waits, it is not sent under another's name.
    const foreign = record(count + 1) // brand 2
    const refused = await fetch(`${operatorUrl}/channels/push/single`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKeys['1'] as string },
      body: foreign.text,
    })
    assert.equal(refused.status, 503)
    assert.equal((await stage.testimony()).messages.get(nameOf(foreign)), undefined)

    // On-site: the inbox of user 1002 shows each brand's person the notifications of that brand.
    const site = records(0, small ? 200 : 2_000)
    const put = await enqueue(platformUrl, 'site', ndjson(site))
    assert.equal(put.accepted, site.length)
    await untilSettled(platformUrl, signal)
    const siteRefs = new Map(
      (await outcomesOf(platformUrl, expand(put.seqs))).map(({ ref }, i) => [ref as string, site[i]]),
    )
    const shown: string[] = []
    for (const brand of ['1', '2']) {
      const refs = await inboxOf(operatorUrl, brand, '1002')
      assert.ok(refs.length > 0, `the inbox of 1002 of brand ${brand} is empty`)
      for (const ref of refs) assert.deepEqual(pick(siteRefs.get(ref)), { brand, user: '1002' })
      shown.push(...refs)
    }
    assert.equal(new Set(shown).size, shown.length, 'a notification was shown in both inboxes')
    say(`the inboxes of two people with the id 1002 show ${shown.length} notifications, each its own`)

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
