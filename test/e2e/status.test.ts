// Delivery status between the two sides: the marks of a person at the operator are shown at the platform, with
// the meta of the message (§1.5, §6.2).

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { reportingPlatform, type Way, ways } from '../support/reporting-sides.ts'
import { freshSchema } from '../support/services/postgres.ts'
import { adminKey, get, post, startOperator, witness } from '../support/sides.ts'

const secret = 'the-secret-of-the-end-to-end-statuses'

async function startBoth(t: TestContext, way: Way, store: string, push = witness()) {
  const platform = await reportingPlatform(t, way, { store })
  const operator = await startOperator(t, {
    ...platform.operator,
    app: { secrets: [secret] },
    push,
    // The sides never share a database.
    ...(!store.startsWith('sqlite:') && { store: await freshSchema() }),
  })
  return {
    platform,
    ...platform,
    /** Marks a notification on one device of the user. */
    async mark(userId: string, as: string, id: string) {
      const token = await createSubscriberToken({ secret, brand: '1', userId })
      const marked = await post(`${operator.url}/app/inbox/mark`, { as, site_notification_ids: [id] }, undefined, {
        authorization: `Bearer ${token}`,
      })
      assert.equal(marked.status, 200)
    },
  }
}

const activity = (id: number) =>
  `{ "id": ${id}, "brand_id":1,"user_id":"1001","activity_id":7,"action_group_id":8,"trigger_hash":"h","action_id":9007199254740993 }`

/** The status may arrive before the answer, which has the identifier. */
const isDeliveredWithId = ({ status, outcome }: { status: string; outcome: string }): boolean =>
  status === 'delivered' && outcome === 'successful'

/** Runs a test by webhook and by polling. */
function onEachWay(
  title: string,
  run: (t: TestContext, way: Way, store: string) => Promise<void>,
  onEngines = onSqlite,
): void {
  for (const way of ways) onEngines(`${title} ${way}`, (t, store) => run(t, way, store))
}

onEachWay(
  'a notification that is read and clicked shows at the platform, with its meta,',
  async (t, way, store) => {
    const { platform, enqueue, mark, waitUntil } = await startBoth(t, way, store)
    await enqueue(`{"title":"Hello","meta": {"b":1e3, "a":[]},"activity":${activity(7)}}`, 'site')
    const delivered = await waitUntil(7, isDeliveredWithId, 'the notification is delivered')
    await mark('1001', 'read', delivered.ref)
    await waitUntil(7, ({ status }) => status === 'opened', 'the notification is opened')
    await mark('1001', 'clicked', delivered.ref)
    const { statuses, identifiers } = await waitUntil(7, ({ status }) => status === 'clicked', 'the click is shown')
    assert.deepEqual(
      statuses.map(({ status }: { status: string }) => status),
      ['delivered', 'displayed', 'opened', 'clicked'],
    )
    assert.equal(identifiers.length, 1)
    for (const { meta } of statuses) {
      assert.ok(meta.startsWith(`{"activity":${activity(7)},"headers":{`), meta)
      assert.ok(meta.endsWith(',"meta":{"b":1e3, "a":[]}}'), meta)
    }
    const { groups } = (await get(`${platform.url}/admin/conversions?by=action`)).body
    assert.deepEqual(groups, [
      {
        lane: '1/site',
        activity: '7',
        action: '9007199254740993',
        action_group: '8',
        sent: 1,
        delivered: 1,
        displayed: 1,
        clicked: 1,
        failed: 0,
      },
    ])
  },
  onEachEngine,
)

onEachWay('dismissed on one device and clicked on another counts as clicked', async (t, way, store) => {
  const { enqueue, mark, waitUntil } = await startBoth(t, way, store)
  await enqueue(`{"title":"Hello","activity":${activity(7)}}`, 'site')
  const { ref } = await waitUntil(7, isDeliveredWithId, 'the notification is delivered')
  await mark('1001', 'dismissed', ref)
  await waitUntil(7, ({ status }) => status === 'dismissed', 'the first device is shown')
  await mark('1001', 'clicked', ref)
  const shown = await waitUntil(7, ({ status }) => status === 'clicked', 'the second device is shown')
  assert.ok(shown.statuses.some(({ status }: { status: string }) => status === 'dismissed'))
})

onEachWay('failed and then replayed leaves the statuses of both sends', async (t, way, store) => {
  let attempts = 0
  const push = witness(({ ref }) =>
    ++attempts === 1
      ? { category: 'failed', reason: 'rejected', error: 'no', rule: 'refused' }
      : { category: 'successful', ref, rule: 'accepted' },
  )
  const { platform, enqueue, waitUntil } = await startBoth(t, way, store, push)
  await enqueue(`{"title":"Hello","activity":${activity(7)}}`, 'push')
  await waitUntil(7, ({ outcome }) => outcome === 'failed', 'the message failed')
  await post(`${platform.url}/admin/failed/replay`, { all: true }, adminKey.key)
  const shown = await waitUntil(7, ({ status }) => status === 'sent', 'the replay is sent')
  assert.equal(shown.replays, 1)
  assert.deepEqual(
    shown.statuses.map(({ status }: { status: string }) => status),
    ['failed', 'sent'],
  )
})
