import assert from 'node:assert/strict'
import test from 'node:test'
import { createInbox, inboxMigrations } from '../../src/subjects/inbox/inbox.ts'
import { forgetNotifications } from '../../src/subjects/inbox/store.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import {
  deliver,
  follow,
  list,
  message,
  openInbox,
  openStore,
  openStream,
  origin,
  serveInbox,
  token,
} from './open-inbox.ts'

onSqlite('a notification is in the inbox of its user only, also if brands share user ids', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store)
  const mine = message('1', '1001', {
    title: 'One',
    body: 'B',
    image_url: 'https://i/1.png',
    url: '/u',
    data: { n: '9007199254740993' },
  })
  const theirs = message('2', '1001', { title: 'Two' })
  await deliver(database, [mine, theirs, message('1', '1002')])

  const { status, page } = await list(inbox, bearer)
  assert.equal(status, 200)
  assert.equal(page.next, null)
  const [item] = page.items
  assert.equal(page.items.length, 1)
  assert.ok(Math.abs(Date.parse(String(item?.created_at)) - Date.now()) < 60_000)
  assert.deepEqual(
    { ...item, created_at: undefined },
    {
      site_notification_id: mine.ref,
      id: mine.id,
      title: 'One',
      body: 'B',
      image_url: 'https://i/1.png',
      url: '/u',
      created_at: undefined,
      expires_at: null,
      seen_at: null,
      read_at: null,
      clicked_at: null,
      dismissed_at: null,
      archived_at: null,
      data: { n: '9007199254740993' },
    },
  )
  const other = await list(inbox, await token('2', '1001'))
  assert.deepEqual(
    other.page.items.map((each) => each.site_notification_id),
    [theirs.ref],
  )
  const nobody = await list(inbox, await token('2', '1002'))
  assert.deepEqual(nobody.page, { items: [], next: null, last_event_id: '0', unseen: 0, unread: 0 })
})

onEachEngine('a notification is visible only after the settle has committed', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store)
  const stream = await openStream(inbox, bearer)
  const context = { deadline: Date.now() + 10_000, signal: new AbortController().signal }
  const [result] = await createInbox({ database }).send([message('1', '1001')], context)
  assert.equal(result?.category, 'successful')
  assert.deepEqual((await list(inbox, bearer)).page.items, [])
  await database.commit(result?.writes ?? [])
  await stream.until(({ refs }) => refs.length === 1)
  assert.equal((await list(inbox, bearer)).page.items.length, 1)
  stream.cut()
})

onEachEngine('a notification that is settled twice is stored once, and numbers still increase', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store)
  const twice = message('1', '1001')
  await deliver(database, [twice, twice])
  await deliver(database, [twice])
  const after = message('1', '1001', { title: 'After' })
  await deliver(database, [after])
  const { page } = await list(inbox, bearer)
  assert.deepEqual(
    page.items.map((each) => [each.site_notification_id, each.title]),
    [
      [after.ref, 'After'],
      [twice.ref, 'Hello'],
    ],
  )
})

onEachEngine('the list is read page by page without gaps', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store)
  const all = Array.from({ length: 7 }, () => message('1', '1001'))
  for (const each of all) await deliver(database, [each, message('2', '1001')])
  const seen: string[] = []
  let before: string | null = null
  do {
    const { page } = await list(inbox, bearer, `?limit=3${before === null ? '' : `&before=${before}`}`)
    seen.push(...page.items.map((each) => each.site_notification_id))
    before = page.next
  } while (before !== null)
  assert.deepEqual(seen, all.map(({ ref }) => ref).reverse())
  for (const query of ['?limit=0', '?limit=101', '?limit=x', '?before=-1', '?before=1.5']) {
    const { status, page } = await list(inbox, bearer, query)
    assert.equal(status, 400, query)
    assert.match(page.error ?? '', /^(limit|before) is .+: give a whole number from 1 to \d+$/)
  }
})

onEachEngine('retention deletes old notifications in batches, and numbers are never reused', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store)
  const old = createInbox({ database, now: () => Date.now() - 91 * 86_400_000 })
  await deliver(database, [message('1', '1001'), message('1', '1001'), message('2', '1001')], old)
  const counts: number[] = []
  do {
    counts.push(await forgetNotifications(database, Date.now() - 90 * 86_400_000, 2))
  } while (counts.at(-1) === 2)
  assert.deepEqual(counts, [2, 1])
  const fresh = message('1', '1001')
  await deliver(database, [fresh])
  assert.equal(await forgetNotifications(database, Date.now() - 90 * 86_400_000), 0)
  const { page } = await list(inbox, bearer)
  assert.deepEqual(
    page.items.map((each) => each.site_notification_id),
    [fresh.ref],
  )
  assert.equal(page.last_event_id, '3')
})

onSqlite('a request without a valid token is 401 with a remedy', async (t, store) => {
  const { inbox } = await openInbox(t, store)
  for (const path of ['/app/inbox', '/app/inbox/stream']) {
    for (const [authorization, pattern] of [
      [undefined, /send the subscriber token/],
      ['Basic abc', /send the subscriber token/],
      ['Bearer nonsense', /HS256/],
      [`Bearer ${await token('1', '1001', -60)}`, /expired/],
    ] as const) {
      const response = await fetch(inbox.url + path, { headers: authorization === undefined ? {} : { authorization } })
      assert.equal(response.status, 401)
      assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer/)
      assert.match(((await response.json()) as { error: string }).error, pattern)
    }
  }
})

onSqlite('a user who must not get messages gets neither the list nor a stream', async (t, store) => {
  const database = await openStore(t, store)
  let answers = true
  const inbox = await serveInbox(t, database, {
    async allowed(brand, userId) {
      if (!answers) throw new Error('the source is away')
      return !(brand === '1' && userId === '1001')
    },
  })
  for (const path of ['/app/inbox', '/app/inbox/stream']) {
    const response = await fetch(inbox.url + path, { headers: { authorization: `Bearer ${await token('1', '1001')}` } })
    assert.equal(response.status, 403)
    assert.match(((await response.json()) as { error: string }).error, /gets no messages/)
  }
  assert.equal((await list(inbox, await token('2', '1001'))).status, 200)
  answers = false
  assert.equal((await list(inbox, await token('2', '1001'))).status, 503)
})

onSqlite('browsers may call from the configured origins only, and only /app', async (t, store) => {
  const { inbox, bearer } = await openInbox(t, store)
  const preflight = (from: string, path: string): Promise<Response> =>
    fetch(inbox.url + path, {
      method: 'OPTIONS',
      headers: {
        origin: from,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization,last-event-id',
      },
    })
  for (const path of ['/app/inbox', '/app/inbox/stream']) {
    const good = await preflight(origin, path)
    assert.equal(good.status, 204)
    assert.equal(good.headers.get('access-control-allow-origin'), origin)
    assert.match(good.headers.get('access-control-allow-headers') ?? '', /authorization/i)
    assert.equal((await preflight('https://elsewhere.example', path)).headers.get('access-control-allow-origin'), null)
  }
  const stream = await follow(inbox, bearer)
  assert.equal(stream.response.headers['access-control-allow-origin'], origin)
  stream.cut()
  assert.equal((await preflight(origin, '/admin/summary')).headers.get('access-control-allow-origin'), null)
})

test('unreadable content fails only its own message', async () => {
  const provider = createInbox({ database: { wake: () => ({ statement: {} as never, rows: [] }) } })
  const context = { deadline: Date.now() + 10_000, signal: new AbortController().signal }
  const results = await provider.send([message('1', '1001', { title: 5 }), message('2', '1001')], context)
  assert.deepEqual(
    results.map(({ category }) => category),
    ['failed', 'successful'],
  )
  assert.equal(results[0]?.writes, undefined)
  assert.equal(provider.transactional, true)
})

test('every key of the inbox begins with the brand', () => {
  const statements = inboxMigrations.flatMap(({ statements }) =>
    statements({ engine: 'sqlite', key: 'text', serial: '', partitionedBy: () => '' }),
  )
  for (const text of statements) {
    if (text.startsWith('create table')) assert.match(text, /primary key \(brand, /)
    if (text.startsWith('create unique index')) assert.match(text, /\(brand, /)
  }
})
