// Two operator processes on one PostgreSQL: only one sends a message, and the other takes it over when that process dies.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createFairSemaphore } from '../../src/base/runtime/fair-semaphore.ts'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import { createMetrics } from '../../src/base/runtime/metrics.ts'
import type { Database } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { op } from '../../src/base/store/statement.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import type { Delivery } from '../../src/subjects/delivery/delivery.ts'
import { countMessages } from '../../src/subjects/delivery/message-counts.ts'
import { selectMessages } from '../../src/subjects/delivery/messages.ts'
import type { SendPath } from '../../src/subjects/delivery/send-path.ts'
import { guard } from '../../src/subjects/providers/guard.ts'
import type { Message, Provider, Result } from '../../src/subjects/providers/provider.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { pathTo } from '../support/send-path.ts'
import { freshSchema, query, withoutPostgres } from '../support/services/postgres.ts'
import { witness } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'

const skip = await withoutPostgres()

const open = (t: TestContext, url: string): Promise<Database> =>
  openTestDatabase(t, url, { migrations: operatorMigrations })

function pathOf(database: Database, provider: Provider, beforeSend?: () => Promise<undefined>): SendPath {
  const check = beforeSend && (async () => (await beforeSend()) ?? {})
  return pathTo(database, guard(provider, { concurrency: 10, timeoutMs: 20_000 }), check)
}

function message(brand: string, id: string): Message {
  const key = JSON.stringify(['push', id, '1001', null, null, null])
  return {
    brand,
    channel: 'push',
    id,
    userId: '1001',
    key,
    ref: uuidv7(),
    text: `{"id":${id}}`,
    attempt: 1,
    context: {},
  }
}

const send = async (path: SendPath, sent: Message, withinMs = 20_000): Promise<Result> => {
  const [result] = await path.send([sent], { deadline: Date.now() + withinMs })
  return result as Result
}
const uncertain = async (database: Database): Promise<number> =>
  (await database.read(op(countMessages, [[]]))).find(({ name }) => name === 'uncertain')?.n ?? 0

/** Ends the database session that owns the claims of this process, as an expired lease does. The process gets a new session. */
async function endSession(url: string, { owner }: Database): Promise<void> {
  const reconnected = event('store.back')
  const ended = await query(
    url,
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and ((classid::bigint << 32) | objid::bigint)
      = hashtextextended('bellwire ' || current_schema() || ' owner ${owner}', 0)`,
  )
  assert.equal(ended.length, 1)
  await reconnected
}

/** A provider that receives messages and never answers. */
function silentProvider(): Provider & { readonly received: Message[] } {
  const received: Message[] = []
  return {
    name: 'silent',
    max: 10,
    received,
    send(messages) {
      received.push(...messages)
      return new Promise(() => {})
    },
  }
}

const hang = (): Promise<undefined> => new Promise(() => {})

test('a message that waits for the rate of its provider is not sent once another process may own it', {
  skip,
}, async (t) => {
  const url = await freshSchema()
  const database = await open(t, url)
  const provider = { ...witness(undefined, 1), callsPerSecond: 0.3 }
  const path = pathOf(database, provider)
  assert.equal((await send(path, message('1', '1'))).category, 'successful')
  const waiting = send(path, message('1', '2'))
  await endSession(url, database)
  assert.equal((await waiting).category, 'fatal')
  assert.deepEqual(
    provider.received.map(({ id }) => id),
    ['1'],
  )
})

test('a message that one process is sending is not sent by another; the same id of another brand is sent', {
  skip,
}, async (t) => {
  const url = await freshSchema()
  const [first, second] = [silentProvider(), witness()]
  const one = pathOf(await open(t, url), first)
  const two = pathOf(await open(t, url), second)
  const sent = message('1', '1')
  void send(one, sent, 100)
  await until(() => first.received.length === 1, { awaited: 'the first call' })
  const refused = await send(two, { ...sent, ref: uuidv7() })
  assert.equal(refused.category === 'fatal' && refused.reason, 'in_flight')
  assert.equal(second.received.length, 0)
  assert.equal((await send(two, message('2', '1'))).category, 'successful')
})

test('a message whose process dies after or before the call is taken over with the same identifier, and each such attempt counts as uncertain', {
  skip,
}, async (t) => {
  const url = await freshSchema()
  const [first, last] = [silentProvider(), witness()]
  const { registry, stop } = createMetrics()
  t.after(stop)
  const sent = message('1', '1')
  const called = await openDatabase(url, { migrations: operatorMigrations })
  void send(pathOf(called, first), sent, 100)
  await until(() => first.received.length === 1, { awaited: 'the first call' })
  await called.close()
  // The row does not show whether the call was made: uncertain is an upper bound.
  const claimed = await openDatabase(url, { migrations: operatorMigrations })
  const taken = event('message.taken_over')
  void send(pathOf(claimed, witness(), hang), { ...sent, ref: uuidv7() }, 100)
  assert.equal((await taken).uncertain, true)
  await claimed.close()
  const living = await open(t, url)
  const result = await send(pathOf(living, last), { ...sent, ref: uuidv7() })
  assert.deepEqual([result.category, result.ref], ['successful', sent.ref])
  assert.deepEqual(
    last.received.map((m) => [m.ref, m.attempt]),
    [[sent.ref, 3]],
  )
  assert.equal(await uncertain(living), 2)
  assert.match(await registry.metrics(), /^bellwire_uncertain_total\{channel="push"\} 2$/m)
})

test('a message is not sent if the database session was lost between claim and call', { skip }, async (t) => {
  const url = await freshSchema()
  const database = await open(t, url)
  const provider = witness()
  const { owner } = database
  const result = await send(
    pathOf(database, provider, async () => void (await endSession(url, database))),
    message('1', '1'),
  )
  assert.notEqual(database.owner, owner, 'the session was lost')
  assert.equal(result.category === 'fatal' && result.rule, 'store: lease lost')
  assert.equal(provider.received.length, 0)
})

test('a process that was suspended for longer than its lease does not send the messages that it claimed before', {
  skip,
}, async (t) => {
  const url = await freshSchema()
  const database = await openTestDatabase(t, url, { migrations: operatorMigrations, leaseMs: 300 })
  const provider = witness()
  // Like SIGSTOP: no timer runs, nothing is received, the clock goes on.
  const suspend = async (): Promise<undefined> => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
    return undefined
  }
  const result = await send(pathOf(database, provider, suspend), message('1', '1'))
  assert.equal(result.category, 'fatal')
  assert.equal(provider.received.length, 0)
})

test('if a process that lost its session succeeds later, its success replaces the other outcome', {
  skip,
}, async (t) => {
  const url = await freshSchema()
  const answer = Promise.withResolvers<void>()
  const late = witness(async (m) => {
    await answer.promise
    return { category: 'successful', ref: m.ref, rule: 'late' }
  })
  const refusing = witness(async () => {
    answer.resolve()
    await settled
    return { category: 'failed', reason: 'rejected', error: 'no', rule: 'second' }
  })
  const slow = await open(t, url)
  const other = await open(t, url)
  const [sent, bystander] = [message('1', '1'), message('1', '2')]
  const first = pathOf(slow, late).send([sent, bystander], {
    deadline: Date.now() + 20_000,
  })
  const settled = first.then(() => undefined)
  await until(() => late.received.length === 2, { awaited: 'the first call' })
  await endSession(url, slow)
  const second = await send(pathOf(other, refusing), { ...sent, ref: uuidv7() })
  assert.equal((await first)[0]?.category, 'successful')
  assert.equal(second.category, 'failed')
  const counted = await other.read(op(countMessages, [[]]))
  assert.deepEqual(
    counted.filter(({ n }) => n !== 0).map(({ brand, name, n }) => [brand, name, n]),
    [
      ['1', 'repeated', 1],
      ['1', 'successful', 2],
      ['1', 'uncertain', 1],
    ],
  )
})

/** Two messages that are claimed together: the first gets its result after `answer()`, the second never gets one. */
async function halfAnswered(url: string, t: TestContext) {
  const answer = Promise.withResolvers<void>()
  const called = Promise.withResolvers<void>()
  const delivery: Delivery = {
    name: 'half',
    max: 10,
    slots: createFairSemaphore(10, 10),
    transactional: false,
    findPauses: () => undefined,
    states: () => [],
    async deliver(messages, context) {
      called.resolve()
      await answer.promise
      const [first] = messages as [Message]
      context.report(first, { category: 'successful', ref: first.ref, rule: 'late' })
      return new Promise(() => {})
    },
    check: async () => [],
    close: async () => {},
  }
  const database = await open(t, url)
  const path = pathTo(database, delivery)
  const [sent, bystander] = [message('1', '1'), message('1', '2')]
  void path.send([sent, bystander], { deadline: Date.now() + 100 })
  await called.promise
  const settled = event('message.settled', ({ ref, rule }) => ref === sent.ref && rule === 'late')
  return { database, sent, answer: () => answer.resolve(), settled }
}

test('such a success also counts if only some of the messages of the call have a result', { skip }, async (t) => {
  const url = await freshSchema()
  const half = await halfAnswered(url, t)
  const other = await open(t, url)
  await endSession(url, half.database)
  const refusing = witness(() => ({ category: 'failed', reason: 'rejected', error: 'no', rule: 'second' }))
  assert.equal((await send(pathOf(other, refusing), { ...half.sent, ref: uuidv7() })).category, 'failed')
  half.answer()
  await half.settled
  const again = await send(pathOf(other, refusing), { ...half.sent, ref: uuidv7() })
  assert.deepEqual([again.category, again.rule], ['successful', 'row 29: delivered before'])
  assert.equal(refusing.received.length, 1)
})

test('a message that was settled while another process was about to take it over is not sent again', {
  skip,
}, async (t) => {
  const url = await freshSchema()
  const half = await halfAnswered(url, t)
  const database = await open(t, url)
  await endSession(url, half.database)
  const other: Database = {
    ...database,
    get owner() {
      return database.owner
    },
    async read(query) {
      const rows = await database.read(query)
      if (query.statement === (selectMessages as object)) {
        half.answer()
        await half.settled
      }
      return rows
    },
  }
  const second = witness()
  const result = await send(pathOf(other, second), { ...half.sent, ref: uuidv7() })
  assert.deepEqual([result.category, result.rule], ['successful', 'row 29: delivered before'])
  assert.equal(second.received.length, 0)
})
