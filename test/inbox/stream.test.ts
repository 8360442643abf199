import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { on } from '../../src/base/runtime/events.ts'
import { createInbox } from '../../src/subjects/inbox/inbox.ts'
import { addOps } from '../../src/subjects/inbox/store.ts'
import { onEachEngine, onPostgres, onSqlite } from '../support/engines.ts'
import { openSession, query } from '../support/services/postgres.ts'
import { event } from '../support/wait.ts'
import {
  deliver,
  type Followed,
  follow,
  isReady,
  list,
  message,
  openInbox,
  openStore,
  openStream,
  serveInbox,
  sqliteUrl,
  token,
} from './open-inbox.ts'

const many = (count: number, brand = '1', content?: object) =>
  Array.from({ length: count }, () => message(brand, '1001', content))

onEachEngine('a notification is sent at once to every stream of its user, and to no other stream', async (t, store) => {
  const { database, inbox } = await openInbox(t, store)
  const [one, two, other] = (await Promise.all(
    [await token('1', '1001'), await token('1', '1001'), await token('2', '1001')].map((bearer) =>
      follow(inbox, bearer),
    ),
  )) as [Followed, Followed, Followed]
  assert.equal(one.response.headers['content-type'], 'text/event-stream')
  assert.equal(one.response.headers['x-accel-buffering'], 'no')
  await Promise.all([one, two, other].map((stream) => stream.until(isReady)))
  const mine = message('1', '1001', { title: 'For brand 1', data: { n: 1 } })
  await deliver(database, [mine])
  const theirs = message('2', '1001')
  await deliver(database, [theirs])
  await Promise.all([one, two, other].map((stream) => stream.until(({ refs }) => refs.length === 1)))
  assert.deepEqual(one.refs, [mine.ref])
  assert.deepEqual(two.refs, [mine.ref])
  assert.deepEqual(other.refs, [theirs.ref])
  const shown = JSON.parse(one.events.find(({ event }) => event === 'notification')?.data ?? '')
  const { page } = await list(inbox, await token('1', '1001'))
  assert.deepEqual(shown, page.items[0])
})

onSqlite('a stream that reconnects gets the missed notifications, in order and each once', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store)
  const first = await openStream(inbox, bearer)
  const before = many(3)
  for (const each of before) await deliver(database, [each])
  await first.until(({ refs }) => refs.length === 3)
  first.cut()
  await first.ended
  // More than one read returns.
  const missed = many(250)
  await deliver(database, [...missed, ...many(5, '2')])
  const second = await openStream(inbox, bearer, first.lastEventId)
  assert.deepEqual([...second.refs].sort(), missed.map(({ ref }) => ref).sort())
  const live = message('1', '1001')
  await deliver(database, [live])
  await second.until(({ refs }) => refs.length === 251)
  assert.equal(second.refs.at(-1), live.ref)
  const ids = second.events.filter(({ event }) => event === 'notification').map(({ id }) => Number(id))
  assert.deepEqual(
    ids,
    Array.from({ length: 251 }, (_, i) => i + 4),
  )
})

onSqlite('a stream that reconnects before its first notification misses none either', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store)
  await deliver(database, many(2))
  const first = await openStream(inbox, bearer)
  assert.deepEqual(first.refs, [], 'older notifications are in the list only')
  first.cut()
  await first.ended
  const missed = message('1', '1001')
  await deliver(database, [missed])
  const second = await openStream(inbox, bearer, first.lastEventId)
  assert.deepEqual(second.refs, [missed.ref])
})

onSqlite('a stream that starts at the last_event_id of the list has no gap after it', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store)
  const listed = many(2)
  await deliver(database, listed)
  const { page } = await list(inbox, bearer)
  const between = message('1', '1001')
  await deliver(database, [between])
  const stream = await openStream(inbox, bearer, page.last_event_id)
  assert.deepEqual(stream.refs, [between.ref])
})

onSqlite('a client that missed too much, or sends an unknown number, must fetch the list', async (t, store) => {
  const { database, inbox, bearer } = await openInbox(t, store, { replay: 5 })
  await deliver(database, many(7))
  for (const [lastEventId, expected] of [
    ['1', ['reset', 'counts', 'ready']],
    ['8', ['reset', 'counts', 'ready']],
    ['nonsense', ['reset', 'counts', 'ready']],
    ['2', [...Array(5).fill('notification'), 'counts', 'ready']],
    // The counts also change without a notification: one has expired.
    ['7', ['counts', 'ready']],
  ] as const) {
    const stream = await openStream(inbox, bearer, lastEventId)
    assert.deepEqual(
      stream.events.map(({ event }) => event),
      expected,
      lastEventId,
    )
    assert.equal(stream.lastEventId, '7')
    stream.cut()
  }
})

onEachEngine('several writers and repeated disconnects cause no gaps and no duplicates', async (t, store) => {
  const database = await openStore(t, store)
  // On PostgreSQL a second process; SQLite has one.
  const second = database.engine === 'postgres' ? await openStore(t, store) : database
  const inbox = await serveInbox(t, database)
  const bearer = await token('1', '1001')
  const sent = new Set<string>()
  const writers = [database, second, database, second].map(async (writer) => {
    for (let round = 0; round < 30; round++) {
      const batch = [...many(3), message('2', '1001'), message('1', '1002')]
      for (const { ref, brand, userId } of batch) if (brand === '1' && userId === '1001') sent.add(ref)
      await deliver(writer, batch)
    }
  })
  let done = false
  const written = Promise.all(writers).then(() => {
    done = true
  })
  const got: string[] = []
  const ids: number[] = []
  let lastEventId = '0'
  while (!(done && got.length >= sent.size)) {
    const stream = await follow(inbox, bearer, lastEventId)
    const count = 1 + (ids.length % 23)
    await stream.until(({ refs }) => refs.length >= count || (done && got.length + refs.length >= sent.size))
    stream.cut()
    // The browser knows only the events that arrived before the connection was cut.
    for (const { event, id, data } of stream.events) {
      lastEventId = id ?? lastEventId
      if (event !== 'notification') continue
      ids.push(Number(id))
      got.push(JSON.parse(data).site_notification_id)
    }
  }
  await written
  assert.equal(sent.size, 360)
  assert.deepEqual(
    ids,
    Array.from({ length: sent.size }, (_, i) => i + 1),
  )
  assert.deepEqual(new Set(got), sent)
})

onPostgres(
  'a write for a user waits for an earlier uncommitted write for the same user, so that no number is skipped',
  async (t, store) => {
    const { database, inbox, bearer } = await openInbox(t, store)
    const stream = await openStream(inbox, bearer)
    // Another process has reserved number 1 and has not committed it.
    await query(store, `insert into inbox_users (brand, user_id, last) values ('1', '1001', 0), ('2', '1001', 0)`)
    const { client, untilBlocking } = await openSession(store)
    await client.query(
      `begin; update inbox_users set last = 1 where brand = '1' and user_id = '1001';
     insert into inbox (brand, user_id, seq, changed, ref, id, created_at) values ('1', '1001', 1, 1, 'late', '1', 0)`,
    )
    const next = message('1', '1001')
    const delivered = deliver(database, [next])
    await untilBlocking()
    await client.query('commit')
    await delivered
    await stream.until(({ refs }) => refs.length === 2)
    assert.deepEqual(stream.refs, ['late', next.ref])
  },
)

test('a client that does not read is disconnected without effect on others, and resumes from its last event', async (t) => {
  let now = Date.now()
  const { database, inbox, bearer } = await openInbox(t, await sqliteUrl(t), {
    bufferBytes: 64 * 1024,
    stallMs: 1_000,
    now: () => now,
  })
  const [slow, quick] = [await openStream(inbox, bearer), await openStream(inbox, bearer)]
  slow.response.pause()
  const dropped = Promise.withResolvers<string>()
  t.after(on('inbox.closed', ({ why, streams }) => dropped.resolve(`${why}, ${streams} left`)))
  // More than the kernel buffers for a client that does not read.
  const large = { title: 'Large', body: 'x'.repeat(400_000) }
  for (let sent = 0; sent < 30; sent++) await deliver(database, many(1, '1', large))
  await quick.until(({ refs }) => refs.length === 30)
  // No client that reads is late, however slow the machine is.
  now += 1_000
  assert.equal(await dropped.promise, 'slow, 1 left')
  slow.response.resume()
  await slow.ended
  assert.ok(slow.refs.length < 30)
  const again = await openStream(inbox, bearer, slow.lastEventId)
  assert.deepEqual([...slow.refs, ...again.refs], quick.refs)
})

test('notifications for a slow client wait in the store, not in memory, and are sent when it reads again', async (t) => {
  const { database, inbox, bearer } = await openInbox(t, await sqliteUrl(t), { bufferBytes: 10_000 })
  const [slow, quick] = [await openStream(inbox, bearer), await openStream(inbox, bearer)]
  slow.response.pause()
  const written: number[] = []
  t.after(on('inbox.shown', ({ streams }) => written.push(streams)))
  const all = many(30, '1', { title: 'Large', body: 'x'.repeat(400_000) })
  for (const each of all) await deliver(database, [each])
  await quick.until(({ refs }) => refs.length === 30)
  const both = written.filter((streams) => streams === 2).length
  assert.ok(both < 30, `${both} of 30 were written to a client that does not read`)
  slow.response.resume()
  await slow.until(({ refs }) => refs.length === 30)
  assert.deepEqual(
    slow.refs,
    all.map(({ ref }) => ref),
  )
})

test('a notification reaches all streams, also if they are more than one turn writes', async (t) => {
  const { database, inbox, bearer } = await openInbox(t, await sqliteUrl(t), { streamsPerUser: 1_000 })
  const streams = await Promise.all(Array.from({ length: 600 }, () => openStream(inbox, bearer)))
  const shown: number[] = []
  t.after(on('inbox.shown', ({ streams }) => shown.push(streams)))
  const one = message('1', '1001')
  await deliver(database, [one])
  await Promise.all(streams.map((stream) => stream.until(({ refs }) => refs.length === 1)))
  assert.deepEqual(shown, [600])
  for (const stream of streams) assert.deepEqual(stream.refs, [one.ref])
})

test('a lost wake delays a notification but does not lose it: each ping reads too', async (t) => {
  const database = await openStore(t, await sqliteUrl(t))
  const inbox = await serveInbox(t, { ...database, onWake: () => () => {} }, { pingMs: 1 })
  const stream = await follow(inbox, await token('1', '1001'))
  let text = ''
  stream.response.on('data', (chunk: string) => {
    text += chunk
  })
  await stream.until(isReady)
  const one = message('1', '1001')
  await deliver(database, [one], createInbox({ database }))
  await stream.until(({ refs }) => refs.length === 1)
  assert.match(text, /^: still here$/m)
})

test('a stream ends when its token expires, and the next stream needs a new token', async (t) => {
  let ahead = 0
  const { inbox } = await openInbox(t, await sqliteUrl(t), { now: () => Date.now() + ahead })
  const bearer = await token('1', '1001', 60)
  const stream = await openStream(inbox, bearer)
  const closed = Promise.withResolvers<string>()
  t.after(on('inbox.closed', ({ why }) => closed.resolve(why)))
  ahead = 120_000
  await stream.ended
  assert.equal(await closed.promise, 'expired')
  assert.equal((await follow(inbox, bearer)).response.statusCode, 401)
})

test('a stop ends all streams at once', async (t) => {
  const database = await openStore(t, await sqliteUrl(t))
  const stop = new AbortController()
  for (const end of ['signal', 'close']) {
    const inbox = await serveInbox(t, database, end === 'signal' ? { signal: stop.signal } : {})
    const streams = await Promise.all([
      openStream(inbox, await token('1', '1001')),
      openStream(inbox, await token('2', '1001')),
    ])
    if (end === 'signal') stop.abort()
    else await inbox.close()
    await Promise.all(streams.map(({ ended }) => ended))
  }
})

test('the first column of both operations that add a notification is the brand', () => {
  const row = {
    brand: '2',
    user_id: '1001',
    ref: 'r',
    id: '1',
    title: null,
    body: null,
    image_url: null,
    url: null,
    data: null,
    created_at: 1,
    expires_at: null,
  }
  for (const { rows } of addOps(row)) assert.equal(rows[0]?.[0], '2')
})

onSqlite(
  'a user whose id is the hash of a long id gets no notification of the user with the long id',
  async (t, store) => {
    const { database, inbox } = await openInbox(t, store)
    const long = 'x'.repeat(200)
    const hash = createHash('sha256').update(long).digest('base64url')
    const first = await openStream(inbox, await token('1', long))
    const second = await openStream(inbox, await token('1', hash))
    const [ofFirst, ofSecond] = [message('1', long), message('1', hash)]
    await deliver(database, [ofFirst, ofSecond])
    await Promise.all([first, second].map((stream) => stream.until(({ refs }) => refs.length === 1)))
    assert.deepEqual([first.refs, second.refs], [[ofFirst.ref], [ofSecond.ref]])
  },
)

test('a stream beyond the limit of its user ends the oldest one, and one beyond the limit of the process is refused', async (t) => {
  const { database, inbox, bearer } = await openInbox(t, await sqliteUrl(t), { streamsPerUser: 2, streams: 3 })
  const [one, other, third] = [bearer, await token('2', '1001'), await token('1', '3003')]
  await openStream(inbox, one)
  const second = await openStream(inbox, one)
  const refusal = async (bearer: string) => {
    const answer = await fetch(`${inbox.url}/app/inbox/stream`, {
      headers: { authorization: `Bearer ${bearer}` },
      signal: AbortSignal.timeout(10_000),
    })
    const { error } = (await answer.json()) as { error: string }
    return { status: answer.status, after: answer.headers.get('retry-after'), error }
  }
  const replaced = event('inbox.closed', ({ why }) => why === 'replaced')
  const newest = await openStream(inbox, one)
  await replaced
  await openStream(inbox, other)
  const ofProcess = await refusal(third)
  assert.deepEqual([ofProcess.status, ofProcess.after], [503, '5'])
  const note = message('1', '1001')
  await deliver(database, [note])
  await Promise.all([second, newest].map((stream) => stream.until(({ refs }) => refs.includes(note.ref))))
  const closed = event('inbox.closed')
  second.cut()
  await closed
  assert.equal((await follow(inbox, one)).response.statusCode, 200)
})
