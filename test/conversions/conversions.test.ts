// Conversions at the platform: counted by activity, action and action group, as API and as CSV.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { platformStores } from '../../src/sides/platform/stores.ts'
import { forgetStatuses } from '../../src/subjects/conversions/conversions.ts'
import { addUp } from '../../src/subjects/conversions/report.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { adminKey, element, get, post, temporary, untilSettled } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { accept, reader, startCounting } from './counting-platform.ts'

const numbers = ({ sent, delivered, displayed, clicked, failed }: Record<string, unknown>) => [
  sent,
  delivered,
  displayed,
  clicked,
  failed,
]

onEachEngine(
  'conversions are counted by activity, action and action group; each stage includes the earlier',
  async (t, store) => {
    const { enqueue, report: reportAll, groups } = await startCounting(t, store)
    const records = [1, 2, 3, 4, 5].map((id) => element({ id, action_id: id < 4 ? 9 : 10 }))
    await enqueue([...records, element({ id: 6, activity_id: 70, action_group_id: 80, action_id: 90 })])
    await reportAll(['1:1', 'sent'], ['1:2', 'delivered'], ['1:3', 'clicked'], ['1:4', 'dismissed'], ['1:5', 'failed'])
    await reportAll(['1:2', 'displayed'], ['1:3', 'delivered'], ['1:3', 'failed'], ['1:6', 'expired'])
    assert.deepEqual(await groups(), [
      {
        lane: '1/push',
        activity: '7',
        action: null,
        action_group: null,
        sent: 5,
        delivered: 3,
        displayed: 3,
        clicked: 1,
        failed: 1,
      },
      {
        lane: '1/push',
        activity: '70',
        action: null,
        action_group: null,
        sent: 1,
        delivered: 0,
        displayed: 0,
        clicked: 0,
        failed: 1,
      },
    ])
    const byAction = await groups('by=action')
    assert.deepEqual(
      byAction.map((each) => [each.activity, each.action_group, each.action, ...numbers(each)]),
      [
        ['7', '8', '9', 3, 2, 2, 1, 0],
        ['7', '8', '10', 2, 1, 1, 0, 1],
        ['70', '80', '90', 1, 0, 0, 0, 1],
      ],
    )
    const byGroup = await groups('by=action_group')
    assert.deepEqual(
      byGroup.map((each) => [each.activity, each.action_group, each.action, ...numbers(each)]),
      [
        [null, '8', null, 5, 3, 3, 1, 1],
        [null, '80', null, 1, 0, 0, 0, 1],
      ],
    )
    assert.equal((await groups('activity=70')).length, 1)
    assert.deepEqual((await groups('action_group=8&by=action')).length, 2)
    const today = new Date().toISOString().slice(0, 10)
    assert.equal((await groups(`since=${today}&until=${today}`)).length, 2)
    assert.deepEqual(await groups('until=2026-01-01'), [])
  },
)

onSqlite('repeated reports count once, and a message that failed and was replayed counts in both', async (t, store) => {
  let attempts = 0
  const {
    url,
    enqueue,
    report: reportAll,
    groups,
  } = await startCounting(t, store, (message) =>
    message.id === '2' && ++attempts === 1
      ? { category: 'failed', reason: 'rejected', error: 'no', rule: 'refused', ref: '1:old' }
      : accept(message),
  )
  await enqueue([element({ id: 1 }), element({ id: 2 })])
  for (let repeated = 0; repeated < 2; repeated++) await reportAll(['1:1', 'clicked'], ['1:old', 'failed'])
  assert.deepEqual(
    (await groups()).map(numbers),
    [[1, 1, 1, 1, 1]],
    'the status of the failed send is not counted again',
  )
  await post(`${url}/admin/failed/replay`, { all: true }, adminKey.key)
  await until(async () => (await get(`${url}/admin/summary`)).body.successful === 2, {
    awaited: 'the replay is sent',
  })
  await reportAll(['1:2', 'delivered'], ['1:old', 'failed'])
  assert.deepEqual((await groups()).map(numbers), [[2, 2, 1, 1, 1]])
})

onSqlite('a status that waited for its identifier is counted', async (t, store) => {
  const { enqueue, report: reportAll, groups } = await startCounting(t, store)
  await reportAll(['1:1', 'clicked'], ['1:1', 'delivered'])
  await enqueue([element({ id: 1 })])
  await until(async () => (await groups())[0]?.clicked === 1, { awaited: 'the click is counted' })
  assert.deepEqual((await groups()).map(numbers), [[1, 1, 1, 1, 0]])
})

test('cancelled messages leave an action its action group', async (t) => {
  const { url, enqueue, groups } = await startCounting(t)
  const adminPost = (path: string, body: object) => post(url + path, body, adminKey.key)
  const ids = { activity_id: 71, action_group_id: 81, action_id: 91 }
  const records = [element(ids), element(ids)]
  await adminPost('/admin/lanes/pause', { lane: '1/push', activity: '71', reason: 'the text is wrong' })
  await adminPost('/admin/activities/push', records)
  const heldBack = async () => (await get(`${url}/admin/lanes`)).body.lanes[0].pauses[0].held_back === records.length
  await until(heldBack, { awaited: 'the pause holds the messages back' })
  await adminPost('/admin/lanes/cancel', { lane: '1/push', activity: '71', reason: 'the text is wrong' })
  await untilSettled(url)
  await adminPost('/admin/lanes/resume', { lane: '1/push', activity: '71' })
  await enqueue([element(ids)])
  assert.partialDeepStrictEqual(await groups('by=action_group'), [{ action_group: '81', sent: 1, failed: 2 }])
})

test('a key sees the conversions of its brands only', async (t) => {
  const { url, enqueue, groups } = await startCounting(t)
  await enqueue([element({ id: 1 }), element({ id: 2, brand_id: 2 })])
  assert.deepEqual(
    (await groups()).map(({ lane }) => lane),
    ['1/push', '2/push'],
  )
  assert.deepEqual(
    (await groups('', reader.key)).map(({ lane }) => lane),
    ['1/push'],
  )
  assert.deepEqual(
    (await groups('brand=2')).map(({ lane }) => lane),
    ['2/push'],
  )
  assert.equal((await get(`${url}/admin/conversions?brand=2`, reader.key)).status, 403)
  assert.equal((await get(`${url}/admin/conversions?since=tomorrow`)).status, 400)
})

onEachEngine('messages with a status are listed with each status and its meta, page by page', async (t, store) => {
  const { url, enqueue, report: reportAll, groups } = await startCounting(t, store)
  const list = async (query = '', key: string = adminKey.key) =>
    (await get(`${url}/admin/conversions/messages?${query}`, key)).body as {
      conversions: { ref: string; stage: string; activity: string; action_group: string; statuses: object[] }[]
      next?: string
    }
  const refs = async (query: string): Promise<string[]> => (await list(query)).conversions.map(({ ref }) => ref)
  await enqueue(
    [1, 2, 3, 4, 5].map((id) => element({ id, action_id: id < 4 ? 9 : 11, action_group_id: id < 4 ? 8 : 80 })),
  )
  await enqueue([element({ id: 6, brand_id: 2, activity_id: 70 })])
  await reportAll(['1:1', 'sent'], ['1:2', 'delivered'], ['1:3', 'clicked'], ['1:4', 'failed'], ['2:6', 'dismissed'])
  await reportAll(['1:3', 'delivered'])
  const all = await list()
  assert.deepEqual(
    all.conversions.map(({ ref, stage }) => `${ref} ${stage}`),
    ['1:1 accepted', '1:2 delivered', '1:3 clicked', '1:4 failed', '2:6 displayed'],
  )
  assert.equal(all.next, undefined)
  const at = '2026-11-25T10:00:00Z'
  const meta = '{"activity":{"id":1,"brand_id":1,"user_id":"1001"}}'
  assert.deepEqual(all.conversions[2], {
    lane: '1/push',
    ref: '1:3',
    activity: '7',
    action: '9',
    action_group: '8',
    stage: 'clicked',
    statuses: [
      { status: 'delivered', at, ref: '1:3', meta },
      { status: 'clicked', at, ref: '1:3', meta },
    ],
  })
  // The list and the counts agree.
  for (const stage of ['delivered', 'displayed', 'clicked', 'failed'] as const) {
    const counted = (await groups('by=action')).reduce((sum, group) => sum + (group[stage] as number), 0)
    assert.equal((await refs(`stage=${stage}`)).length, counted, stage)
  }
  assert.deepEqual(await refs('action=11'), ['1:4'])
  assert.deepEqual(await refs('action_group=80'), ['1:4'])
  assert.deepEqual(await refs('brand=2&activity=70'), ['2:6'])
  assert.deepEqual(await refs('until=2026-01-01'), [])
  const pages: string[][] = []
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page = await list(`limit=2${next && `&after=${encodeURIComponent(next)}`}`)
    pages.push(page.conversions.map(({ ref }) => ref))
    next = page.next
  }
  assert.deepEqual(pages, [['1:1', '1:2'], ['1:3', '1:4'], ['2:6']])
  assert.equal((await get(`${url}/admin/conversions/messages?after=1`)).status, 400)
  assert.equal((await get(`${url}/admin/conversions/messages?brand=2`, reader.key)).status, 403)
  assert.equal((await list('', reader.key)).conversions.length, 4)
})

test('a filter that matches few messages reads 20,000 of them in a request, and goes on after the cursor', async (t) => {
  const file = join(await temporary(t), 'platform.db')
  // The first process makes the tables.
  await (await startCounting(t, `sqlite:${file}`)).stop()
  const database = new DatabaseSync(file)
  database.exec(`
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 25000)
    insert into conversions (lane, ref, day, activity, action, stage, failed)
    select '1/push', printf('ref-%05d', n), 20000, case when n = 25000 then '8' else '7' end, '9', 3, 0 from numbers`)
  database.close()
  const { url } = await startCounting(t, `sqlite:${file}`)
  const list = async (query: string) =>
    (await get(`${url}/admin/conversions/messages?activity=8${query}`)).body as { conversions: object[]; next?: string }
  const first = await list('')
  assert.deepEqual(first.conversions, [])
  assert.equal(first.next, '20000 1/push ref-20000')
  const second = await list(`&after=${encodeURIComponent(first.next)}`)
  assert.partialDeepStrictEqual(second.conversions, [{ ref: 'ref-25000', stage: 'clicked' }])
  assert.equal(second.next, undefined)
})

onSqlite('conversions and their counts are forgotten together', async (t, store) => {
  const { enqueue, report: reportAll, groups, stop } = await startCounting(t, store)
  await enqueue([element({ id: 1 })])
  await reportAll(['1:1', 'clicked'])
  assert.equal((await groups()).length, 1)
  await stop()
  const database = await openDatabase(store, { migrations: platformStores({ store })[0].migrations })
  const later = Date.now() + 48 * 3_600_000
  for (const forget of forgetStatuses) while ((await forget(database, later)) > 0);
  await database.close()
  const again = await startCounting(t, store)
  assert.deepEqual(await again.groups(), [])
})

test('the report adds up its rows without a database', () => {
  const outcome = { activity: '7', action: '-', action_group: '-', successful: 2, failed: 0 }
  const groups = addUp('1/push', [outcome], [{ activity: '7', action: '-', stage: 2, messages: 1 }], 'action', {})
  assert.deepEqual(groups, [
    {
      lane: '1/push',
      activity: '7',
      action: null,
      action_group: null,
      sent: 2,
      delivered: 1,
      displayed: 1,
      clicked: 0,
      failed: 0,
    },
  ])
})
