// POST /reconciliation (§2.5, §4.1, §7.3; rows 15–17 and 31), over real sockets.

import assert from 'node:assert/strict'
import { type IncomingMessage, request } from 'node:http'
import test, { type TestContext } from 'node:test'
import { on } from '../../src/base/runtime/events.ts'
import type { AttributeSource, IdChunk } from '../../src/subjects/attributes/attribute-source.ts'
import { functionSource } from '../../src/subjects/attributes/function.ts'
import { sqlSource } from '../../src/subjects/attributes/sql.ts'
import { onPostgres } from '../support/engines.ts'
import { createPlayers, playerQueries } from '../support/players.ts'
import { query } from '../support/services/postgres.ts'
import { keys, post, startOperator } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'

const path = '/reconciliation'
const one = keys.one.key
const longWait = { withinMs: 20_000 }

onPostgres('a list has the users of its brand, with any ids, and the time of the data', async (t, store) => {
  const players = await createPlayers(store)
  const hard = `a"b\\c 'd' ${'é'.repeat(10_000)}`
  await players.run(
    `insert into players values (1, '1001', 0, 1), (2, '1001', 1, 0), (1, '${hard.replaceAll("'", "''")}', 1, 0), (2, '1002', 0, 1)`,
  )
  const attributes = sqlSource({ database: store, queries: playerQueries })
  const { url } = await startOperator(t, { attributes })
  const listUsers = async (key: string, field: string): Promise<string[]> => {
    const before = Date.now()
    const answer = await post(url + path, { field }, key)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.deepEqual(Object.keys(answer.body), ['users', 'timestamp'])
    assert.match(answer.body.timestamp, /Z$/)
    assert.ok(Date.parse(answer.body.timestamp) >= before - 1_000)
    return answer.body.users
  }
  assert.deepEqual(await listUsers(one, 'blocked'), [hard])
  assert.deepEqual(await listUsers(one, 'excluded'), ['1001'])
  assert.deepEqual(await listUsers(keys.two.key, 'blocked'), ['1001'])
  assert.deepEqual(await listUsers(keys.two.key, 'excluded'), ['1002'])
})

test('a request that cannot be answered gets an error with the reason, never an empty list', async (t) => {
  const attributes = functionSource(
    ['blocked', 'active'],
    () => [],
    'mine',
    () => ['1001'],
  )
  const { url } = await startOperator(t, { attributes })
  const refused = async (body: unknown, key: string | undefined = one): Promise<[number, string]> => {
    const { status, body: answer } = await post(url + path, body, key)
    assert.deepEqual(Object.keys(answer), ['error'])
    return [status, answer.error]
  }
  for (const field of ['excluded', 'consent_email']) {
    const [status, error] = await refused({ field })
    assert.equal(status, 501)
    assert.match(error, /no source here can list .*operator\.attributes/)
  }
  assert.deepEqual((await refused({ field: 'hair_color' }))[0], 501)
  for (const body of ['', '[]', '{"field":', '{}', '{"field":7}', Buffer.from([0x7b, 0xff, 0x7d])])
    assert.equal((await refused(body))[0], 400, String(body))
  assert.equal((await refused({ field: 'blocked' }, 'wrong'))[0], 401)
  const [status, error] = await refused({ field: 'blocked' }, keys.both.key)
  assert.equal(status, 403)
  assert.match(error, /has 2 brands.*use a key of one brand only/)
  assert.deepEqual((await post(url + path, { field: 'active' }, one)).body.users, ['1001'])

  const lookUpOnly = await startOperator(t, { attributes: functionSource(['blocked'], () => []) })
  assert.equal((await post(lookUpOnly.url + path, { field: 'blocked' }, one)).status, 501)
  const without = await startOperator(t)
  assert.equal((await post(without.url + path, { field: 'blocked' }, one)).status, 501)
})

test('if a source fails during the stream, the answer is valid JSON with an error and without a timestamp, and status 200', async (t) => {
  for (const before of [0, 1, 5_000]) {
    const { url } = await startOperator(t, {
      attributes: listSource(async function* () {
        if (before > 0) yield { ids: Array.from({ length: before }, (_, i) => `user "${i}"`) }
        throw new Error('the disk said "no"')
      }),
    })
    const answer = await post(url + path, { field: 'blocked' }, one)
    assert.equal(answer.status, 200)
    assert.deepEqual(Object.keys(answer.body), ['users', 'error'])
    assert.equal(answer.body.users.length, before)
    assert.equal(answer.body.error, 'the disk said "no"')
  }
})

test('a list with an id that is no text is closed with an error: a user of another name would be in it', async (t) => {
  for (const id of [1001, null, undefined]) {
    const { url } = await startOperator(t, {
      attributes: listSource(async function* () {
        yield { ids: ['1000', id as unknown as string] }
      }),
    })
    const { body } = await post(url + path, { field: 'blocked' }, one)
    assert.deepEqual(body, { users: [], error: `the source listed ${id}: list the user ids as strings` })
  }
})

test('if a source fails before the stream, or has no valid timestamp, the answer is 503', async (t) => {
  const failing: AttributeSource['all'][] = [
    async () => {
      throw new Error('the database is away')
    },
    async () => ({ timestamp: 'yesterday', chunks: none() }),
    async () => ({
      timestamp: '2026-01-01T00:00:00Z',
      chunks: [{ ids: ['1001'] }] as unknown as AsyncIterable<IdChunk>,
    }),
    (async () => undefined) as unknown as AttributeSource['all'],
    () => new Promise(() => {}),
  ]
  for (const all of failing) {
    const attributes = { ...functionSource(['blocked'], () => []), all: all as NonNullable<typeof all> }
    const { url } = await startOperator(t, { attributes, testing: { reconciliation: { stallMs: 100 } } })
    const answer = await post(url + path, { field: 'blocked' }, one)
    assert.equal(answer.status, 503)
    assert.ok(answer.headers.get('retry-after'))
    assert.match(answer.body.error, /cannot list blocked now/)
  }
})

test('a source that stalls is aborted, and the answer has an error', async (t) => {
  let aborted = false
  const { url } = await startOperator(t, {
    testing: { reconciliation: { stallMs: 100 } },
    attributes: listSource(async function* (signal) {
      signal.addEventListener('abort', () => (aborted = true))
      yield { ids: ['1001'] }
      await new Promise(() => {})
    }),
  })
  const { body } = await post(url + path, { field: 'blocked' }, one)
  assert.deepEqual(body, { users: ['1001'], error: 'the source sent no data for 100 ms' })
  assert.ok(aborted)
})

test('a list that takes too long, or is still streamed when the server stops, is closed with an error', async (t) => {
  const forever = listSource(async function* () {
    for (;;) {
      yield { ids: ['1001'] }
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })
  const slow = await startOperator(t, { attributes: forever, testing: { reconciliation: { streamMs: 200 } } })
  assert.match((await post(slow.url + path, { field: 'blocked' }, one)).body.error, /not complete within 200 ms/)
  const stopped = await startOperator(t, { attributes: forever })
  const begun = event('reconciliation.begun')
  const answer = post(stopped.url + path, { field: 'blocked' }, one)
  await begun
  await stopped.stop()
  assert.equal((await answer).body.error, 'the server is stopping')
})

test('a list beyond the limit of concurrent lists is refused', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { url } = await startOperator(t, {
    testing: { reconciliation: { streams: 2 } },
    attributes: listSource(async function* () {
      await gate.promise
      yield { ids: [] }
    }),
  })
  let begun = 0
  t.after(on('reconciliation.begun', () => begun++))
  const first = [post(url + path, { field: 'blocked' }, one), post(url + path, { field: 'blocked' }, keys.two.key)]
  await until(() => begun === 2, { awaited: 'two lists have begun' })
  const third = await post(url + path, { field: 'blocked' }, one)
  assert.equal(third.status, 503)
  assert.match(third.body.error, /2 lists are being streamed already/)
  gate.resolve()
  for (const answer of await Promise.all(first)) assert.deepEqual(answer.body.users, [])
  assert.equal((await post(url + path, { field: 'blocked' }, one)).status, 200)
})

test('a client that does not read pauses the source, and is disconnected after the stall timeout', async (t) => {
  let chunks = 0
  const ids = Array.from({ length: 4_000 }, (_, i) => `a user with a long id ${i}`)
  const { url } = await startOperator(t, {
    testing: { reconciliation: { stallMs: 300 } },
    attributes: listSource(async function* () {
      for (;;) {
        chunks++
        yield { ids }
      }
    }),
  })
  const ended = event('reconciliation.ended', undefined, longWait)
  const response = await openList(t, url, one)
  response.pause()
  assert.partialDeepStrictEqual(await ended, { ended: 'slow', brand: '1', field: 'blocked' })
  const megabytes = (chunks * 4_000 * 26) / 1e6
  assert.ok(megabytes < 40, `${megabytes} MB were read from the source, more than the sockets can buffer`)
})

onPostgres('the query at the database ends when the client leaves or the query stalls', async (t, store) => {
  const players = await createPlayers(store)
  await players.run(`insert into players select 1, 'player ' || n, 1, 0 from generate_series(1, 1000) n`)
  const running = async (mark: string): Promise<number> =>
    (await query(store, `select pid from pg_stat_activity where state = 'active' and query like 'copy%${mark}%'`))
      .length
  const queries = {
    // One query never ends, and the other never returns its first row.
    blocked: `select 'leaver ' || n from generate_series(1, 1000000000) n where '1' = :brand`,
    excluded: `select user_id from players, pg_sleep(1000) where '1' = :brand and 'staller' <> user_id`,
  }
  const attributes = sqlSource({ database: store, queries })
  const { url } = await startOperator(t, { attributes, testing: { reconciliation: { stallMs: 1_000 } } })

  const ended = event('reconciliation.ended', ({ ended }) => ended === 'client', longWait)
  const response = await openList(t, url, one)
  await new Promise((resolve) => response.once('data', resolve))
  assert.equal(await running('leaver'), 1)
  response.destroy()
  await ended
  await until(async () => (await running('leaver')) === 0, {
    awaited: 'the query of the client that left has ended',
    ...longWait,
  })

  const { body } = await post(url + path, { field: 'excluded' }, one)
  assert.deepEqual(body.users, [])
  assert.match(body.error, /sent no data for 1000 ms/)
  await until(async () => (await running('staller')) === 0, {
    awaited: 'the query that stalled has ended',
    ...longWait,
  })
})

onPostgres('an invalid query is reported before the stream begins', async (t, store) => {
  await createPlayers(store)
  const attributes = sqlSource({
    database: store,
    queries: { blocked: 'select no_such from players', excluded: 'select 1, 2' },
  })
  const { url } = await startOperator(t, { attributes })
  const unknown = await post(url + path, { field: 'blocked' }, one)
  assert.equal(unknown.status, 503)
  assert.match(unknown.body.error, /column "no_such" does not exist/)
  assert.match((await post(url + path, { field: 'excluded' }, one)).body.error, /returns 2 columns/)
})

onPostgres('a query that fails after its first rows closes the list with its error', async (t, store) => {
  await createPlayers(store)
  const queries = {
    blocked: `select ('u' || 1 / (100000 - n)) from generate_series(1, 200000) n where '1' = :brand`,
    excluded: `select case when n < 100000 then 'u' || n end from generate_series(1, 200000) n where '1' = :brand`,
  }
  const { url } = await startOperator(t, { attributes: sqlSource({ database: store, queries }) })
  const divided = (await post(url + path, { field: 'blocked' }, one)).body
  assert.equal(divided.error, 'division by zero')
  assert.ok(divided.users.length > 0 && divided.users.length < 100_000, `${divided.users.length} users`)
  const empty = (await post(url + path, { field: 'excluded' }, one)).body
  assert.match(empty.error, /NULL for a user id/)
  assert.equal(empty.timestamp, undefined)
})

/** A source that lists these chunks. */
function listSource(chunks: (signal: AbortSignal) => AsyncIterable<IdChunk>): AttributeSource {
  return {
    ...functionSource(['blocked'], () => []),
    all: async (_brand, _field, { signal }) => ({ timestamp: '2026-01-01T00:00:00Z', chunks: chunks(signal) }),
  }
}

async function* none(): AsyncGenerator<IdChunk> {}

/** Requests the list of blocked users, and leaves reading the body to the test. */
function openList(t: TestContext, url: string, key: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method: 'POST', headers: { 'x-api-key': key }, agent: false }, (response) => {
      response.on('error', () => {})
      resolve(response)
    })
    sent.on('error', reject)
    sent.end('{"field":"blocked"}')
    t.after(() => sent.destroy())
  })
}
