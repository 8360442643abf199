import assert from 'node:assert/strict'
import { createInbox } from '../../src/subjects/inbox/inbox.ts'
import { onEachEngine, onPostgres, onSqlite } from '../support/engines.ts'
import { openSession, query } from '../support/services/postgres.ts'
import {
  deliver,
  type Followed,
  follow,
  isReady,
  list,
  mark,
  message,
  openInbox,
  openStore,
  openStream,
  serveInbox,
  token,
} from './open-inbox.ts'

interface Shown {
  readonly site_notification_id: string
  readonly seen_at: string | null
  readonly read_at: string | null
  readonly clicked_at: string | null
  readonly dismissed_at: string | null
  readonly archived_at: string | null
}

const notificationsOf = ({ events }: Followed): Shown[] =>
  events.filter(({ event }) => event === 'notification').map(({ data }) => JSON.parse(data))
const countsOf = ({ events }: Followed): unknown => {
  const last = events.findLast(({ event }) => event === 'counts')
  return last && JSON.parse(last.data)
}
const marksOf = (item: object | undefined): string[] =>
  Object.entries(item ?? {})
    .filter(([name, value]) => /^(seen|read|clicked|dismissed|archived)_at$/.test(name) && value !== null)
    .map(([name]) => name.slice(0, -3))
    .sort()

onEachEngine('a mark is in the list, and at once in every open stream of the user', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store)
  const [first, second] = [message('1', '1001'), message('1', '1001')]
  await deliver(database, [first])
  await deliver(database, [second])
  const streams = await Promise.all([follow(inbox, bearer), follow(inbox, bearer)])
  const other = await follow(inbox, await token('2', '1001'))
  for (const stream of [...streams, other]) await stream.until(isReady)

  const answer = await mark(inbox, bearer, { as: 'read', site_notification_ids: [first.ref] })
  assert.deepEqual(answer, { status: 200, body: { unseen: 1, unread: 1, unknown: [] } })
  for (const stream of streams) {
    await stream.until((each) => JSON.stringify(countsOf(each)) === '{"unseen":1,"unread":1}')
    assert.deepEqual(notificationsOf(stream).map(marksOf), [['read', 'seen']])
    assert.deepEqual(notificationsOf(stream)[0]?.site_notification_id, first.ref)
    assert.deepEqual(countsOf(stream), { unseen: 1, unread: 1 })
  }
  assert.deepEqual(notificationsOf(other), [])
  const { page } = await list(inbox, bearer)
  assert.deepEqual(page.items.map(marksOf), [[], ['read', 'seen']])
  assert.deepEqual([page.unseen, page.unread], [1, 1])
})

onEachEngine('a mark is set once, with its first time, and a stronger one implies the weaker', async (t, store) => {
  let time = Date.now()
  const { database, inbox, bearer } = await openInbox(t, store, { now: () => time })
  const refs: string[] = []
  for (const as of ['seen', 'read', 'clicked', 'dismissed', 'archived']) {
    const one = message('1', '1001')
    await deliver(database, [one], createInbox({ database, now: () => time }))
    refs.push(one.ref)
    await mark(inbox, bearer, { as, site_notification_ids: [one.ref] })
  }
  time += 5_000
  for (const as of ['seen', 'read']) await mark(inbox, bearer, { as, site_notification_ids: refs })
  const { page } = await list(inbox, bearer)
  const { page: archive } = await list(inbox, bearer, '?archived=true')
  assert.deepEqual(page.items.toReversed().map(marksOf), [
    ['read', 'seen'],
    ['read', 'seen'],
    ['clicked', 'read', 'seen'],
  ])
  assert.deepEqual(archive.items.map(marksOf), [['archived', 'read', 'seen']])
  const [seen, , clicked] = page.items.toReversed()
  assert.equal(seen?.seen_at, new Date(time - 5_000).toISOString())
  assert.equal(seen?.read_at, new Date(time).toISOString())
  assert.equal(clicked?.read_at, new Date(time - 5_000).toISOString())
})

onEachEngine('all notifications up to the end of a list are marked, and later ones are not', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store)
  const many = Array.from({ length: 60 }, () => message('1', '1001'))
  for (let from = 0; from < many.length; from += 20) await deliver(database, many.slice(from, from + 20))
  const { page } = await list(inbox, bearer, '?limit=5')
  const later = message('1', '1001')
  await deliver(database, [later])
  const answer = await mark(inbox, bearer, { as: 'read', up_to: page.last_event_id })
  assert.deepEqual(answer.body, { unseen: 1, unread: 1, unknown: [] })
  const { page: after } = await list(inbox, bearer, '?limit=100')
  assert.deepEqual(
    after.items.filter(({ read_at: readAt }) => readAt === null).map(({ site_notification_id: ref }) => ref),
    [later.ref],
  )
})

onSqlite('a stream that reconnects gets the marks that it missed', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store)
  const all = [message('1', '1001'), message('1', '1001'), message('1', '1001')]
  for (const each of all) await deliver(database, [each])
  const { page } = await list(inbox, bearer)
  await mark(inbox, bearer, { as: 'dismissed', site_notification_ids: [all[1]?.ref] })
  const fresh = message('1', '1001')
  await deliver(database, [fresh])
  const stream = await openStream(inbox, bearer, page.last_event_id)
  assert.deepEqual(
    notificationsOf(stream).map((each) => [each.site_notification_id, ...marksOf(each)]),
    [[all[1]?.ref, 'dismissed', 'seen'], [fresh.ref]],
  )
  assert.deepEqual(countsOf(stream), { unseen: 3, unread: 3 })
})

onEachEngine('marks and deliveries at the same time leave no gap in a stream', async (t, store) => {
  const database = await openStore(t, store)
  // On PostgreSQL a second process; SQLite has one.
  const second = database.engine === 'postgres' ? await openStore(t, store) : database
  const [inbox, other] = [await serveInbox(t, database), await serveInbox(t, second)]
  const bearer = await token('1', '1001')
  const stream = await openStream(inbox, bearer)
  const refs: string[] = []
  await Promise.all(
    [database, second].map(async (writer) => {
      for (let n = 0; n < 30; n++) {
        const one = message('1', '1001')
        await deliver(writer, [one])
        refs.push(one.ref)
        await Promise.all([
          mark(inbox, bearer, { as: 'clicked', site_notification_ids: refs.slice(-3) }),
          mark(other, bearer, { as: 'read', site_notification_ids: [one.ref] }),
        ])
      }
    }),
  )
  const shown = (): Map<string, Shown> =>
    new Map(notificationsOf(stream).map((each) => [each.site_notification_id, each]))
  await stream.until(() => refs.every((ref) => marksOf(shown().get(ref)).join() === 'clicked,read,seen'))
  await stream.until((each) => JSON.stringify(countsOf(each)) === '{"unseen":0,"unread":0}')
  const ids = stream.events.filter(({ event }) => event === 'notification').map(({ id }) => Number(id))
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  )
  const { page } = await list(inbox, bearer, '?limit=100')
  assert.equal(page.items.length, 60)
  assert.deepEqual([page.unseen, page.unread], [0, 0])
})

onPostgres('marks wait for an uncommitted notification of the user, and have later numbers', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store)
  const first = message('1', '1001')
  await deliver(database, [first])
  // Another process has stored number 2 and has not committed it.
  const { client, untilBlocking } = await openSession(store)
  await client.query(
    `begin; update inbox_users set last = 2;
     insert into inbox (brand, user_id, seq, changed, ref, id, created_at) values ('1', '1001', 2, 2, 'late', '1', 0)`,
  )
  const marked = mark(inbox, bearer, { as: 'read', up_to: '10' })
  await untilBlocking()
  await client.query('commit')
  await marked
  assert.deepEqual(await query(store, 'select ref, seq::int, changed::int from inbox order by seq'), [
    { ref: first.ref, seq: 1, changed: 3 },
    { ref: 'late', seq: 2, changed: 4 },
  ])
})

onSqlite("another user's notification cannot be marked", async (t, store) => {
  const { database, inbox } = await openInbox(t, store)
  const [mine, ofBrand2] = [message('1', '1001'), message('2', '1001')]
  await deliver(database, [mine, ofBrand2])
  for (const [bearer, ref] of [
    [await token('1', '1002'), mine.ref],
    [await token('2', '1001'), mine.ref],
    [await token('1', '1001'), ofBrand2.ref],
  ] as const) {
    const { status, body } = await mark(inbox, bearer, { as: 'clicked', site_notification_ids: [ref] })
    assert.deepEqual([status, body.unknown], [200, [ref]])
    await mark(inbox, await token('1', '1002'), { as: 'dismissed', up_to: '999999999999999' })
  }
  const { page } = await list(inbox, await token('1', '1001'))
  assert.deepEqual(page.items.map(marksOf), [[]])
  const unknown = await mark(inbox, await token('1', '1001'), { as: 'read', site_notification_ids: ["' or 1=1 --"] })
  assert.deepEqual(unknown.body, { unseen: 1, unread: 1, unknown: ["' or 1=1 --"] })
})

onSqlite('open streams get new counts when a notification expires', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store, { pingMs: 100 })
  const stays = message('1', '1001')
  const expires = message('1', '1001', { title: 'Soon', expires_at: new Date(Date.now() + 4_000).toISOString() })
  await deliver(database, [stays, expires])
  const stream = await openStream(inbox, bearer, '0')
  assert.deepEqual(countsOf(stream), { unseen: 2, unread: 2 })
  await stream.until((each) => JSON.stringify(countsOf(each)) === '{"unseen":1,"unread":1}')
  // Unchanged counts are not sent again.
  assert.equal(stream.events.filter(({ event }) => event === 'counts').length, 2)
})

onSqlite('an expired notification is neither listed, nor counted, nor streamed', async (t, store) => {
  let time = Date.now()
  const { database, inbox, bearer } = await openInbox(t, store, { now: () => time })
  const expiring = message('1', '1001', { title: 'Until noon', expires_at: new Date(time + 60_000).toISOString() })
  const lasting = message('1', '1001')
  await deliver(database, [expiring])
  await deliver(database, [lasting])
  const { page } = await list(inbox, bearer)
  assert.equal(page.items[1]?.expires_at, new Date(time + 60_000).toISOString())
  assert.deepEqual([page.items.length, page.unseen], [2, 2])
  time += 60_000
  const { page: after } = await list(inbox, bearer)
  assert.deepEqual(
    after.items.map(({ site_notification_id: ref }) => ref),
    [lasting.ref],
  )
  assert.equal(after.unseen, 1)
  const stream = await openStream(inbox, bearer, '0')
  assert.deepEqual(stream.refs, [lasting.ref])
})

onSqlite('a message that expires before its delivery fails', async (t, store) => {
  const database = await openStore(t, store)
  const context = { deadline: Date.now() + 10_000, signal: new AbortController().signal }
  const late = message('1', '1001', { title: 'Yesterday', expires_at: '2020-01-01T00:00:00Z' })
  const [result] = await createInbox({ database }).send([late], context)
  assert.deepEqual([result?.category, result?.writes], ['failed', undefined])
})

onSqlite('an invalid request to mark is 400 and names the remedy', async (t, store) => {
  const { inbox, bearer } = await openInbox(t, store)
  for (const [body, pattern] of [
    [{ as: 'read' }, /site_notification_ids or up_to/],
    [{ as: 'read', site_notification_ids: ['a'], up_to: '1' }, /site_notification_ids or up_to/],
    [{ as: 'opened', up_to: '1' }, /as is .*opened/],
    [{ as: 'read', up_to: '-1' }, /up_to is "-1": give a text of 1 to 15 digits/],
    [{ as: 'read', site_notification_ids: [] }, /site_notification_ids/],
    [{ as: 'read', site_notification_ids: Array(501).fill('a') }, /site_notification_ids/],
  ] as const) {
    const answer = await mark(inbox, bearer, body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(answer.body.error ?? '', pattern)
  }
})
