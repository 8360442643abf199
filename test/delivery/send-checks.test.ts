// The checks of a push right before the call: changes that happen while the push waits are respected.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { on } from '../../src/base/runtime/events.ts'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import type { Database, Op } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { op } from '../../src/base/store/statement.ts'
import { StoreUnavailable } from '../../src/base/store/store-unavailable.ts'
import { functionSource } from '../../src/subjects/attributes/function.ts'
import { listDeviceSends } from '../../src/subjects/delivery/device-sends.ts'
import { createDevices } from '../../src/subjects/delivery/devices.ts'
import { countMessages } from '../../src/subjects/delivery/message-counts.ts'
import { findByRef, selectMessages, settleMessages } from '../../src/subjects/delivery/messages.ts'
import { forgetAttempts } from '../../src/subjects/delivery/retention.ts'
import { createSuppression } from '../../src/subjects/delivery/suppress.ts'
import type { Message, Result } from '../../src/subjects/providers/provider.ts'
import type { DeviceAnswer, Push } from '../../src/subjects/providers/push-service.ts'
import { type DeviceTable, deviceTable, deviceTableMigrations } from '../support/device-table.ts'
import { onEachEngine, onPostgres, onSqlite } from '../support/engines.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { accepted, gone, type WitnessService, witnessService } from '../support/push-services.ts'
import { pathTo } from '../support/send-path.ts'
import { event, until } from '../support/wait.ts'

interface Setup {
  readonly database: Database
  readonly table: DeviceTable
  readonly apns: WitnessService
  readonly excluded: Set<string>
  send(message: Message, withinMs?: number): Promise<Result>
}

/** Users 1001 of brands 1 and 2, each with a device of the same token, and user 1002 of brand 1 with another token. */
async function setUp(
  t: TestContext,
  store: string,
  answer: (push: Push) => DeviceAnswer | Promise<DeviceAnswer> = () => accepted,
): Promise<Setup> {
  const database = await openTestDatabase(t, store, { migrations: deviceTableMigrations })
  const table = deviceTable(database)
  await Promise.all([table.link('1', 't-1', '1001'), table.link('2', 't-1', '1001'), table.link('1', 't-2', '1002')])
  const apns = witnessService('apns', answer, { concurrency: 1 })
  const excluded = new Set<string>()
  const source = functionSource(['excluded'], (brand, users) =>
    users.filter((user) => excluded.has(`${brand} ${user}`)),
  )
  const path = pathTo(
    database,
    createDevices({ source: table, services: [apns] }),
    createSuppression(source, new AbortController().signal).checkMessage,
  )
  return {
    database,
    table,
    apns,
    excluded,
    async send(message, withinMs = 20_000) {
      const [result] = await path.send([message], {
        deadline: Date.now() + withinMs,
      })
      return result as Result
    },
  }
}

let nextId = 1
function message(brand: string, userId: string, more: object = {}): Message {
  const id = String(nextId++)
  const text = JSON.stringify({ activity: { id: Number(id) }, title: 'Hello', ...more })
  return { brand, channel: 'push', id, userId, key: JSON.stringify([id]), ref: uuidv7(), text, attempt: 1, context: {} }
}

/** Sends a first message that occupies the service's only slot until `free()`, and a second one that waits for the slot. */
async function sendTwo(t: TestContext, store: string, second: Message) {
  const gate = Promise.withResolvers<DeviceAnswer>()
  const setup = await setUp(t, store, ({ device }) => (device.token === 't-2' ? gate.promise : accepted))
  const first = setup.send(message('1', '1002'))
  await until(() => setup.apns.received.length === 1, { awaited: 'the slot is occupied' })
  const waiting = setup.send(second)
  await until(() => setup.table.answered === 2, { awaited: 'the devices of the second message were read' })
  const since = Date.now()
  return {
    ...setup,
    free: () => gate.resolve(accepted),
    waiting,
    first,
    /** Design §5.3: over a second. */
    waitUntilStale: () => until(() => Date.now() - since > 1_100, { awaited: 'over a second has passed' }),
  }
}

for (const [how, named, onEngines] of [
  ['to all devices', {}, onEachEngine],
  ['to a named device', { token: 't-1' }, onSqlite],
] as const) {
  onEngines(`a confirmed logout is respected by a waiting send ${how}, up to the call`, async (t, store) => {
    const s = await sendTwo(t, store, message('1', '1001', named))
    await s.table.unlinkNow('1', 't-1')
    s.free()
    assert.partialDeepStrictEqual(await s.waiting, { category: 'failed', reason: 'no_device' })
    assert.equal((await s.first).category, 'successful')
    assert.deepEqual(
      s.apns.received.map(({ device }) => device.token),
      ['t-2'],
    )
    assert.equal(
      (await s.send(message('2', '1001'))).category,
      'successful',
      'the device of the other brand with the same token',
    )
    await s.table.link('1', 't-1', '1001')
    assert.equal((await s.send(message('1', '1001'))).category, 'successful', 'linked again')
  })
}

onSqlite('a message is not sent to a token that moved to another, excluded user', async (t, store) => {
  const s = await sendTwo(t, store, message('1', '1001'))
  s.excluded.add('1 1003')
  await s.table.link('1', 't-1', '1003')
  s.free()
  assert.partialDeepStrictEqual(await s.waiting, { category: 'failed', reason: 'no_device' })
  // Afterwards messages to the old user and to the new user are refused, with or without a named target.
  for (const [userId, named, reason] of [
    ['1001', {}, 'no_device'],
    ['1001', { token: 't-1' }, 'no_device'],
    ['1003', {}, 'suppressed'],
    ['1003', { token: 't-1' }, 'suppressed'],
  ] as const)
    assert.partialDeepStrictEqual(await s.send(message('1', userId, named)), { category: 'failed', reason })
  assert.deepEqual(
    s.apns.received.map(({ device }) => device.token),
    ['t-2'],
  )
})

onSqlite('after a wait of over a second, suppression is checked again', async (t, store) => {
  const s = await sendTwo(t, store, message('1', '1001'))
  s.excluded.add('1 1001')
  await s.waitUntilStale()
  s.free()
  assert.partialDeepStrictEqual(await s.waiting, { category: 'failed', reason: 'suppressed' })
  assert.equal(s.apns.received.length, 1)
})

onEachEngine(
  'after a wait of over a second, devices are read again, also if this process was not notified of an unlink',
  async (t, store) => {
    const s = await sendTwo(t, store, message('1', '1001'))
    // As another process would: `revoked` of this process does not see the unlink.
    const otherTable = deviceTable(s.database)
    await otherTable.unlinkNow('1', 't-1')
    await s.waitUntilStale()
    s.free()
    assert.partialDeepStrictEqual(await s.waiting, { category: 'failed', reason: 'no_device' })
    assert.equal(s.apns.received.length, 1)
  },
)

onEachEngine('a dead device is unlinked by the settle of its message, not before', async (t, store) => {
  const answer = Promise.withResolvers<DeviceAnswer>()
  const s = await setUp(t, store, () => answer.promise)
  const sending = s.send(message('1', '1001'))
  await until(() => s.apns.received.length === 1, { awaited: 'the call' })
  assert.deepEqual(await s.table.left(), ['1 t-1', '1 t-2', '2 t-1'])
  answer.resolve(gone)
  assert.equal((await sending).category, 'failed')
  assert.deepEqual(await s.table.left(), ['1 t-2', '2 t-1'])
})

onEachEngine('retention deletes the device sends of every brand', async (t, store) => {
  const s = await setUp(t, store)
  const [one, two] = [message('1', '1001'), message('2', '1001')]
  for (const each of [one, two]) assert.equal((await s.send(each)).category, 'successful')
  const sends = async (): Promise<number[]> =>
    Promise.all(
      [one, two].map(async ({ brand, ref }) => (await s.database.read(op(listDeviceSends, [[brand, ref]]))).length),
    )
  assert.deepEqual(await sends(), [1, 1])
  // PostgreSQL deletes whole days.
  assert.ok((await forgetAttempts(s.database, Date.now() + 2 * 86_400_000)) >= 2)
  assert.deepEqual(await sends(), [0, 0])
})

interface ThreeOptions {
  readonly wrap?: (database: Database) => Database
  /** Sends the messages as one batch. */
  readonly batch?: boolean
}

/** Three messages that are claimed together: the first two are answered at once, the third after `free()`. */
async function sendThree(
  t: TestContext,
  store: string,
  { wrap = (database) => database, batch = false }: ThreeOptions = {},
) {
  const database = await openDatabase(store, { migrations: deviceTableMigrations })
  let closed = false
  const close = async (): Promise<void> => {
    if (!closed) await database.close()
    closed = true
  }
  t.after(close)
  const table = deviceTable(database)
  const users = ['1001', '1002', '1003']
  await Promise.all(users.map((user, i) => table.link('1', `t-${i + 1}`, user)))
  const gate = Promise.withResolvers<DeviceAnswer>()
  const apns = witnessService('apns', ({ device }) => (device.token === 't-3' ? gate.promise : accepted), {
    concurrency: 2,
  })
  const path = pathTo(wrap(database), createDevices({ source: table, services: [apns] }))
  const alone = users.map((user) => message('1', user))
  const whole = {}
  const messages = batch ? alone.map((each, position) => ({ ...each, part: { of: whole, position } })) : alone
  return {
    database,
    messages,
    apns,
    close,
    free: () => gate.resolve(accepted),
    /** Sends all in one turn of the event loop. */
    send: (withinMs = 20_000) => path.send(messages, { deadline: Date.now() + withinMs }),
    idle: () => path.idle(),
    states: async () => {
      const rows = await database.read(op(selectMessages, messages, ({ brand, key }) => [brand, key]))
      return messages.map(({ key }) => rows.find((row) => row.key === key)?.state)
    },
  }
}

for (const [group, batch] of [
  ['turn', false],
  ['batch', true],
] as const)
  onSqlite(`one device that does not answer delays no other message of its ${group}`, async (t, store) => {
    const s = await sendThree(t, store, { batch })
    const settled: string[] = []
    t.after(on('message.settled', ({ ref }) => void settled.push(ref)))
    const sending = s.send(400)
    await until(() => settled.length === 2, { awaited: 'two are settled' })
    assert.deepEqual(await s.states(), ['successful', 'successful', 'in_flight'])
    assert.deepEqual(
      (await sending).map((result) => result.rule),
      ['accepted', 'accepted', 'answer budget spent'],
    )
    s.free()
    await s.idle()
    assert.deepEqual(await s.states(), ['successful', 'successful', 'successful'])
    for (const { brand, ref } of s.messages) {
      const found = await findByRef(s.database, [brand], ref)
      assert.partialDeepStrictEqual(found, { state: 'successful', rule: 'accepted', attempt: 1, uncertain: 0 })
    }
  })

/** A database that passes every settle to `intercept`. */
const interceptSettle =
  (intercept: (settle: () => Promise<unknown>) => Promise<unknown>) =>
  (database: Database): Database => ({
    ...database,
    get owner() {
      return database.owner
    },
    commit: ((ops: readonly Op[], options?: object) => {
      const settles = ops.some(({ statement }) => statement === (settleMessages as object))
      const commit = () => database.commit(ops, options)
      return settles ? intercept(commit) : commit()
    }) as Database['commit'],
  })

onEachEngine('messages whose settle could not be written stay in flight, the others are settled', async (t, store) => {
  let refused = 0
  const wrap = interceptSettle((settle) => (refused++ === 0 ? Promise.reject(new StoreUnavailable('cut')) : settle()))
  const s = await sendThree(t, store, { wrap })
  const sending = s.send()
  await until(() => refused === 1, { awaited: 'the first settle is rejected' })
  s.free()
  assert.deepEqual(
    (await sending).map(({ category }) => category),
    ['fatal', 'fatal', 'successful'],
  )
  assert.deepEqual(await s.states(), ['in_flight', 'in_flight', 'successful'])
})

onPostgres('when a process dies, only the messages that were not settled are uncertain', async (t, store) => {
  const dying = await sendThree(t, store)
  const settled: string[] = []
  t.after(on('message.settled', ({ ref }) => void settled.push(ref)))
  await Promise.all([dying.send(400), until(() => settled.length === 2, { awaited: 'two are settled' })])
  await dying.close()
  const living = await setUp(t, store)
  const [first, , third] = dying.messages as [Message, Message, Message]
  assert.partialDeepStrictEqual(await living.send(first), { category: 'successful', rule: 'row 29: delivered before' })
  const takenOver = event('message.taken_over', ({ ref }) => ref === third.ref)
  await living.table.link('1', 't-3', '1003')
  assert.equal((await living.send(third)).category, 'successful')
  assert.equal((await takenOver).uncertain, true)
  const counts = await living.database.read(op(countMessages, [[]]))
  assert.deepEqual(
    counts.filter(({ n }) => n !== 0).map(({ name, n }) => [name, n]),
    [
      ['repeated', 1],
      ['successful', 3],
      ['uncertain', 1],
    ],
  )
})

onSqlite('an attribute source that hangs for one brand delays no message of another brand', async (t, store) => {
  const database = await openTestDatabase(t, store, { migrations: deviceTableMigrations })
  const table = deviceTable(database)
  await Promise.all([table.link('1', 't-1', '1001'), table.link('2', 't-1', '1001')])
  const answers = Promise.withResolvers<void>()
  const source = functionSource(['excluded'], async (brand) => {
    if (brand === '2') await answers.promise
    return []
  })
  const path = pathTo(
    database,
    createDevices({ source: table, services: [witnessService('apns', () => accepted)] }),
    createSuppression(source, new AbortController().signal).checkMessage,
  )
  const settled = event('message.settled', ({ brand }) => brand === '1')
  const sending = path.send([message('1', '1001'), message('2', '1001')], {
    deadline: Date.now() + 20_000,
  })
  await settled
  answers.resolve()
  assert.deepEqual(
    (await sending).map(({ category }) => category),
    ['successful', 'successful'],
  )
})
