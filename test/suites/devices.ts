// The requirements for the device registry on every engine. Run by test/devices/sqlite.test.ts and test/devices/postgres.test.ts.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { on } from '../../src/base/runtime/events.ts'
import type { Database } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import { type Timestamp, timestampOf } from '../../src/contract/timestamp.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import type { DeviceEvent } from '../../src/subjects/devices/device-event.ts'
import { deviceId } from '../../src/subjects/devices/identity.ts'
import { createRegistry, deviceMigrations, type Registry } from '../../src/subjects/devices/registry.ts'
import { forgetRemovals, forgetUnlinks } from '../../src/subjects/devices/retention.ts'
import { oracle, sequences } from '../devices/sequences.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { event } from '../support/wait.ts'
import { insertNote, notes, selectNotes } from './notes.ts'

export interface DevicesFixture {
  readonly engine: Database['engine']
  readonly skip: string | false
  /** The url of an empty database that only this test uses. */
  readonly fresh: (t: TestContext) => Promise<string>
}

interface RegistrySetup {
  readonly t: TestContext
  readonly url: string
  readonly database: Database
  readonly registry: Registry
  readonly clock: { now: number }
}

const start = Date.parse('2026-06-01T12:00:00Z')
const day = 24 * 3_600_000

export function deviceOf(over: Partial<DeviceEvent> = {}): DeviceEvent {
  const token = over.token ?? 'token-1'
  return {
    what: 'link',
    brand: '1',
    userId: 'a',
    id: deviceId(token),
    token,
    kind: 'fcm_token',
    app: '',
    environment: '',
    channel: 'android',
    origin: 'test',
    at: undefined,
    skipPublishing: false,
    ...over,
  }
}
const link = (over: Partial<DeviceEvent> = {}): DeviceEvent => deviceOf(over)
const unlink = (over: Partial<DeviceEvent> = {}): DeviceEvent => deviceOf({ ...over, what: 'unlink' })

const selectTokens = statement<{ token: string }>('select_stored_tokens', {})`
  select d.token from devices d where d.token <> '' order by d.token`

const lookUp = { deadline: Date.now() + 60_000, signal: new AbortController().signal }

async function tokensOf(registry: Registry, brand: string, userId: string): Promise<string[]> {
  return ((await registry.findDevices(brand, [userId], lookUp)).get(userId) ?? []).map(({ token }) => token).sort()
}

async function onlyDevice(registry: Registry, brand: string, userId: string): Promise<Device> {
  const devices = (await registry.findDevices(brand, [userId], lookUp)).get(userId) ?? []
  assert.equal(devices.length, 1)
  return devices[0] as Device
}

/** The owner of a token: a user id, 'nobody', or undefined if the token is unknown. */
async function ownerOf(registry: Registry, brand: string, token: string): Promise<string | undefined> {
  const found = (await registry.findHolders(brand, [token], lookUp)).get(token)
  return typeof found === 'object' ? found.userId : found
}

export function devicesSuite({ engine, skip, fresh }: DevicesFixture): void {
  const check = (title: string, run: (setup: RegistrySetup) => Promise<void>): void => {
    test(`${engine}: ${title}`, { skip, timeout: 60_000 }, async (t) => {
      const url = await fresh(t)
      const database = await openTestDatabase(t, url, { migrations: [...deviceMigrations, notes] })
      const clock = { now: start }
      await run({
        t,
        url,
        database,
        clock,
        registry: createRegistry({ database, devicesPerUser: 10_000, now: () => clock.now }),
      })
    })
  }

  // ── the owner of a device ──

  check('a user has the devices that were linked to this user in the same brand', async ({ registry }) => {
    assert.deepEqual(
      await registry.storeEvents([link(), link({ token: 'token-2' }), link({ brand: '2', token: 'token-3' })]),
      ['linked', 'linked', 'linked'],
    )
    assert.deepEqual(await tokensOf(registry, '1', 'a'), ['token-1', 'token-2'])
    assert.deepEqual(await tokensOf(registry, '2', 'a'), ['token-3'])
    const found = await registry.findDevices('1', ['a', 'a', 'stranger'], lookUp)
    assert.deepEqual([...found.keys()], ['a'])
    assert.equal(found.get('a')?.length, 2)
    assert.deepEqual(await registry.findDevices('1', [], lookUp), new Map())
  })

  check('a device is read with all properties of its link', async ({ registry }) => {
    await registry.storeEvents([link({ kind: 'apns', app: 'com.example', environment: 'sandbox', channel: 'ios' })])
    assert.deepEqual(await onlyDevice(registry, '1', 'a'), {
      brand: '1',
      userId: 'a',
      kind: 'apns',
      token: 'token-1',
      id: deviceId('token-1'),
      app: 'com.example',
      environment: 'sandbox',
      linkedAt: timestampOf(start),
    })
    const [row] = await registry.list('1', 'a')
    assert.partialDeepStrictEqual(row, { channel: 'ios', origin: 'test', device: deviceId('token-1') })
  })

  check(
    'a token that moves belongs to its new user only, and to nobody after that user unlinks it',
    async ({ registry, clock }) => {
      await registry.storeEvents([link(), link({ brand: '2' })])
      clock.now += 1_000
      assert.deepEqual(await registry.storeEvents([link({ userId: 'b' })]), ['moved'])
      assert.deepEqual(await tokensOf(registry, '1', 'a'), [])
      assert.deepEqual(await tokensOf(registry, '1', 'b'), ['token-1'])
      assert.deepEqual(await tokensOf(registry, '2', 'a'), ['token-1'])
      clock.now += 1_000
      assert.deepEqual(await registry.storeEvents([unlink({ userId: 'b' })]), ['unlinked'])
      assert.equal(await ownerOf(registry, '1', 'token-1'), 'nobody')
      assert.deepEqual(await tokensOf(registry, '1', 'a'), [])
    },
  )

  check('an unlink of another user’s token changes nothing', async ({ registry, clock }) => {
    await registry.storeEvents([link()])
    clock.now += 1_000
    assert.deepEqual(await registry.storeEvents([unlink({ userId: 'b' })]), ['none'])
    assert.equal(await ownerOf(registry, '1', 'token-1'), 'a')
  })

  check(
    'a link that arrives after the unlink that followed it does not bring the device back',
    async ({ registry }) => {
      const events = [unlink({ at: '2026-06-01T10:00:01' }), link({ at: '2026-06-01T10:00:00.999999' })]
      assert.deepEqual(await registry.storeEvents([events[0] as DeviceEvent]), ['none'])
      assert.equal(await ownerOf(registry, '1', 'token-1'), 'nobody', 'the token is known although it was never linked')
      assert.deepEqual(await registry.storeEvents([events[1] as DeviceEvent]), ['none'])
      assert.equal(await ownerOf(registry, '1', 'token-1'), 'nobody')
      assert.equal(await ownerOf(registry, '2', 'token-1'), undefined, 'the token is unknown in the other brand')
      assert.deepEqual(
        await registry.storeEvents([link({ at: '2026-06-01T10:00:01' })]),
        ['none'],
        'the unlink has the same time',
      )
      assert.deepEqual(await registry.storeEvents([link({ at: '2026-06-01T10:00:01.000000001' })]), ['linked'])
      assert.equal(await ownerOf(registry, '1', 'token-1'), 'a')
    },
  )

  check('repeated events change nothing', async ({ registry }) => {
    const events = [
      link({ at: '2026-06-01T10:00:00' }),
      unlink({ at: '2026-06-01T10:00:01' }),
      link({ userId: 'b', at: '2026-06-01T10:00:02' }),
    ]
    for (const each of events) await registry.storeEvents([each])
    const before = await registry.list('1', 'b')
    for (const each of events.toReversed()) assert.deepEqual(await registry.storeEvents([each]), ['none'])
    await registry.storeEvents([...events, ...events])
    assert.deepEqual(await registry.list('1', 'b'), before)
    assert.equal(await ownerOf(registry, '1', 'token-1'), 'b')
  })

  check(
    'every sequence of up to 4 events of two users, in every arrival order, gives the owner of row 20',
    async ({ registry }) => {
      // Each sequence has its own token, and each commit stores the n-th event of every sequence. In brand 2 the same tokens
      // have the same events with the two users swapped.
      const all = sequences()
      const at = (time: number): Timestamp => `2026-06-01T10:00:00.00${time}`
      const swapped = { a: 'b', b: 'a' } as const
      for (let n = 0; n < 4; n++) {
        const events = all.flatMap((sequence, i) => {
          const one = sequence[n]
          if (!one) return []
          const { what, userId, time } = one
          const common = { what, token: `t${i}`, at: at(time) }
          const first = deviceOf({ ...common, userId })
          return i % 8 === 0 ? [first, deviceOf({ ...common, brand: '2', userId: swapped[userId] })] : [first]
        })
        for (let from = 0; from < events.length; from += 10_000)
          await registry.storeEvents(events.slice(from, from + 10_000))
      }
      const tokens = all.map((_, i) => `t${i}`)
      const swap = all.map((events) => events.map((one) => ({ ...one, userId: swapped[one.userId] })))
      for (const [brand, expected] of [
        ['1', all],
        ['2', swap],
      ] as const) {
        const holders = await registry.findHolders(brand, tokens, lookUp)
        const devices = await registry.findDevices(brand, ['a', 'b'], lookUp)
        const owned = {
          a: new Set(devices.get('a')?.map((d) => d.token)),
          b: new Set(devices.get('b')?.map((d) => d.token)),
        }
        for (const [i, events] of expected.entries()) {
          if (brand === '2' && i % 8 !== 0) continue
          const owner = oracle(events)
          const found = holders.get(`t${i}`)
          assert.equal(typeof found === 'object' ? found.userId : found, owner ?? 'nobody', JSON.stringify(events))
          assert.equal(owned.a.has(`t${i}`), owner === 'a')
          assert.equal(owned.b.has(`t${i}`), owner === 'b')
        }
      }
    },
  )

  check('several events in one commit have the same result as one commit for each event', async ({ registry }) => {
    const all = sequences(3)
    const events = all.flatMap((sequence, i) =>
      sequence.map(({ what, userId, time }) =>
        deviceOf({ what, userId, token: `t${i}`, at: `2026-06-01T10:00:0${time}` }),
      ),
    )
    // Three callers, because the events of several callers are merged too.
    const thirds = [0, 1, 2].map((n) => events.filter((_, i) => i % 3 === n))
    await Promise.all(thirds.map((third) => registry.storeEvents(third)))
    const holders = await registry.findHolders(
      '1',
      all.map((_, i) => `t${i}`),
      lookUp,
    )
    for (const [i, sequence] of all.entries()) {
      const found = holders.get(`t${i}`)
      assert.equal(typeof found === 'object' ? found.userId : found, oracle(sequence) ?? 'nobody')
    }
  })

  check(
    'storeEvents() returns the change of each event, also for several events in one commit',
    async ({ registry }) => {
      const at = (second: number) => ({ at: `2026-06-01T10:00:0${second}` })
      const events = [
        link(at(1)),
        link({ userId: 'b', ...at(2) }),
        unlink(at(2)),
        unlink({ userId: 'b', ...at(3) }),
        link(at(4)),
        link(at(5)),
        link(at(5)),
      ]
      const changes = ['linked', 'moved', 'none', 'unlinked', 'linked', 'kept', 'none']
      assert.deepEqual(await registry.storeEvents(events), changes)
      // The same events one by one, for another device.
      for (const [i, event] of events.entries())
        assert.deepEqual(await registry.storeEvents([{ ...event, token: 't2', id: deviceId('t2') }]), [changes[i]])
    },
  )

  check('of two links of one user with equal times, the same one wins in either order', async ({ registry }) => {
    const at = '2026-06-01T10:00:00'
    const one = (token: string) => link({ token, at, kind: 'apns', environment: 'sandbox' })
    const other = (token: string) => link({ token, at, kind: 'apns', environment: 'production' })
    await registry.storeEvents([one('t1')])
    await registry.storeEvents([other('t1')])
    await registry.storeEvents([other('t2')])
    await registry.storeEvents([one('t2')])
    await registry.storeEvents([other('t3'), one('t3')])
    const devices = (await registry.findDevices('1', ['a'], lookUp)).get('a') ?? []
    assert.deepEqual(new Set(devices.map(({ environment }) => environment)), new Set(['sandbox']))
  })

  check('links with equal times are ordered by the bytes of their user ids', async ({ registry }) => {
    for (const pair of [
      ['\uff5e', '\u{1f600}'],
      ['B', 'a'],
      ['a', 'ä'],
      ['10', '9'],
      ['a-b', 'aa'],
    ]) {
      const token = pair.join()
      await registry.storeEvents(pair.map((userId) => link({ token, userId, at: '2026-06-01T10:00:00' })))
      await registry.storeEvents([
        link({ token: `${token} again`, userId: pair[1] as string, at: '2026-06-01T10:00:00' }),
      ])
      await registry.storeEvents([
        link({ token: `${token} again`, userId: pair[0] as string, at: '2026-06-01T10:00:00' }),
      ])
      assert.equal(await ownerOf(registry, '1', token), pair[1])
      assert.equal(await ownerOf(registry, '1', `${token} again`), pair[1])
    }
  })

  // ── identity ──

  check('a browser that subscribes again with new keys is the same device', async ({ registry, clock }) => {
    const endpoint = 'https://push.example/send/abc'
    const subscription = (auth: string) => JSON.stringify({ endpoint, keys: { p256dh: 'p', auth } })
    await registry.storeEvents([link({ token: subscription('1'), kind: 'webpush' })])
    clock.now += 1_000
    assert.deepEqual(await registry.storeEvents([link({ token: subscription('2'), kind: 'webpush' })]), ['kept'])
    assert.deepEqual(await tokensOf(registry, '1', 'a'), [subscription('2')])
    assert.equal(await ownerOf(registry, '1', subscription('1')), 'a')
    assert.equal(await ownerOf(registry, '1', endpoint), 'a')
    clock.now += 1_000
    assert.deepEqual(await registry.storeEvents([unlink({ token: endpoint, kind: 'webpush' })]), ['unlinked'])
  })

  check('a token of any length and characters is found', async ({ registry }) => {
    const tokens = ['x'.repeat(4096), `ключ 'quoted" \\ {} 😀`, 'http://a.example/x', '{not json', 'AB'.repeat(32), ' ']
    await registry.storeEvents(tokens.map((token) => link({ token })))
    assert.deepEqual(await tokensOf(registry, '1', 'a'), tokens.toSorted())
    for (const token of tokens) assert.equal(await ownerOf(registry, '1', token), 'a')
    assert.equal(await ownerOf(registry, '1', 'ab'.repeat(32)), 'a', 'hexadecimal has no case')
  })

  // ── the times of events without a timestamp ──

  check(
    'an event without a time gets the current time, or a time just after the latest event of its device',
    async ({ registry, clock }) => {
      const linkedAt = async () => (await onlyDevice(registry, '1', 'a')).linkedAt
      await registry.storeEvents([link()])
      assert.equal(await linkedAt(), '2026-06-01T12:00:00')
      clock.now -= 30_000 // the clock was set back, or another process has an earlier one
      assert.deepEqual(await registry.storeEvents([unlink()]), ['unlinked'])
      assert.deepEqual(await registry.storeEvents([link()]), ['linked'])
      assert.equal(await linkedAt(), '2026-06-01T12:00:00.000002')
      // An event of another user up to a minute ahead counts. The events in brand 2 do not.
      await registry.storeEvents([
        unlink({ userId: 'b', at: '2026-06-01T12:00:20.1234567' }),
        unlink({ brand: '2', at: '2026-06-01T12:00:29' }),
        link({ brand: '2', at: '2026-06-01T12:00:29' }),
      ])
      await registry.storeEvents([link()])
      assert.equal(await linkedAt(), '2026-06-01T12:00:20.123457')
      clock.now += 120_000
      await registry.storeEvents([link()])
      assert.equal(await linkedAt(), '2026-06-01T12:01:30')
    },
  )

  check('a login right after a logout takes effect, and so does the next logout', async ({ registry }) => {
    for (let i = 0; i < 20; i++) {
      assert.deepEqual(await registry.storeEvents([link()]), ['linked'], `login ${i}`)
      assert.deepEqual(await registry.storeEvents([unlink()]), ['unlinked'], `logout ${i}`)
    }
  })

  check(
    'a time more than a minute ahead is replaced by the current time, with a warning',
    async ({ registry, clock }) => {
      const warned = event('device.clamped')
      await registry.storeEvents([link({ at: '2036-01-01T00:00:00.5' })])
      assert.partialDeepStrictEqual(await warned, { brand: '1', what: 'link', taken: '2026-06-01T12:00:00' })
      assert.equal((await onlyDevice(registry, '1', 'a')).linkedAt, '2026-06-01T12:00:00')
      clock.now += 1
      assert.deepEqual(
        await registry.storeEvents([unlink()]),
        ['unlinked'],
        'the next unlink is later than the replaced time',
      )
    },
  )

  // ── several writers ──

  check(
    'concurrent writers of the same devices lead to the same owners as a single writer',
    async ({ t, url, database, clock }) => {
      // A SQLite store has a single process, so its writers share one database.
      const others =
        engine === 'sqlite'
          ? []
          : [await openDatabase(url, { migrations: [] }), await openDatabase(url, { migrations: [] })]
      for (const other of others) t.after(() => other.close())
      const registries = [database, ...others, database].map((each) =>
        createRegistry({ database: each, now: () => clock.now }),
      )
      const random = randomFrom(7)
      const testEvents = Array.from({ length: 1_500 }, () => ({
        what: random(2) === 0 ? ('link' as const) : ('unlink' as const),
        userId: random(2) === 0 ? ('a' as const) : ('b' as const),
        time: 1 + random(6),
        token: `t${random(40)}`,
        brand: String(1 + random(2)),
      }))
      const events = testEvents.map((one) => deviceOf({ ...one, at: `2026-06-01T10:00:0${one.time}` }))
      await Promise.all(
        registries.map(async (registry, i) => {
          const rotated = [...events.slice(i * 300), ...events.slice(0, i * 300)]
          for (let from = 0; from < rotated.length; from += 100)
            await registry.storeEvents(rotated.slice(from, from + 100))
        }),
      )
      for (const brand of ['1', '2'])
        for (let n = 0; n < 40; n++) {
          const seen = testEvents.filter((one) => one.brand === brand && one.token === `t${n}`)
          assert.equal(await ownerOf(registries[0] as Registry, brand, `t${n}`), oracle(seen) ?? 'nobody')
        }
    },
  )

  check('an event and its additional rows are committed together, or not at all', async ({ registry, database }) => {
    await registry.storeEvents([link()], [op(insertNote, [['good']])])
    await assert.rejects(registry.storeEvents([link({ userId: 'b' })], [op(insertNote, [['bad']])]))
    assert.equal(await ownerOf(registry, '1', 'token-1'), 'a')
    assert.deepEqual(await database.read(op(selectNotes, [[]])), [{ note: 'good' }])
  })

  check('each change emits one event, with the id of the device and never its token', async ({ registry, clock }) => {
    const emitted: unknown[] = []
    const offs = (['device.linked', 'device.moved', 'device.unlinked'] as const).map((name) =>
      on(name, (change) => emitted.push([name, change])),
    )
    await registry.storeEvents([link(), link({ brand: '2' })])
    await registry.storeEvents([link({ at: '2020-01-01T00:00:00', userId: 'late' })])
    clock.now += 1_000
    await registry.storeEvents([link()])
    await registry.storeEvents([link({ userId: 'b' })])
    await registry.storeEvents([unlink({ userId: 'b' })])
    await registry.storeEvents([unlink({ userId: 'b' })])
    for (const off of offs) off()
    const common = { brand: '1', device: deviceId('token-1'), kind: 'fcm_token', origin: 'test' }
    assert.deepEqual(emitted, [
      ['device.linked', { ...common, userId: 'a' }],
      ['device.linked', { ...common, userId: 'a', brand: '2' }],
      ['device.moved', { ...common, userId: 'b', from: 'a' }],
      ['device.unlinked', { ...common, userId: 'b' }],
    ])
    assert.ok(!JSON.stringify(emitted).includes('token-1'))
  })

  // ── sends in flight ──

  check('a device that was unlinked or moved after it was read is revoked', async ({ registry, clock }) => {
    await registry.storeEvents([link(), link({ token: 'token-2' }), link({ token: 'token-3' }), link({ brand: '2' })])
    const devices = (await registry.findDevices('1', ['a'], lookUp)).get('a') as Device[]
    const [first, second, third] = ['token-1', 'token-2', 'token-3'].map((token) =>
      devices.find((device) => device.token === token),
    ) as [Device, Device, Device]
    const elsewhere = await onlyDevice(registry, '2', 'a')
    const revoked = () => [first, second, third, elsewhere].map((device) => registry.isRevoked(device))
    assert.deepEqual(revoked(), [false, false, false, false])
    clock.now += 1_000
    await registry.storeEvents([unlink()])
    await registry.storeEvents([link({ token: 'token-2', userId: 'b' })])
    await registry.storeEvents([link({ token: 'token-3' })]) // the app was opened again
    assert.deepEqual(revoked(), [true, true, false, false])
    clock.now += 1_000
    await registry.storeEvents([link()])
    assert.equal(registry.isRevoked(first), false, 'the device is linked to the user again')
    assert.equal(registry.isRevoked(await onlyDevice(registry, '1', 'b')), false)
  })

  check('an unlink that is earlier than the link revokes nothing', async ({ registry }) => {
    await registry.storeEvents([link({ at: '2026-06-01T10:00:00' })])
    await registry.storeEvents([unlink({ at: '2026-06-01T09:00:00' })])
    assert.equal(registry.isRevoked(await onlyDevice(registry, '1', 'a')), false)
  })

  check('a revoked device is removed from memory when no send of it can be in flight', async ({ database }) => {
    const clock = { now: start }
    const registry = createRegistry({ database, now: () => clock.now, rememberMs: 60_000 })
    await registry.storeEvents([link(), link({ token: 'token-2' })])
    const device = (await registry.findDevices('1', ['a'], lookUp))
      .get('a')
      ?.find(({ token }) => token === 'token-1') as Device
    clock.now += 1_000
    await registry.storeEvents([unlink()])
    clock.now += 59_999
    await registry.storeEvents([unlink({ token: 'token-2' })])
    assert.equal(registry.isRevoked(device), true)
    clock.now += 2
    await registry.storeEvents([unlink({ token: 'token-2' })])
    assert.equal(registry.isRevoked(device), false)
    assert.equal(await ownerOf(registry, '1', 'token-1'), 'nobody')
  })

  // ── removals ──

  check(
    'a dead device is unlinked if its link has not changed since it was read',
    async ({ database, registry, clock }) => {
      await registry.storeEvents([link(), link({ token: 'token-2' }), link({ token: 'token-3' }), link({ brand: '2' })])
      const devices = (await registry.findDevices('1', ['a'], lookUp)).get('a') as Device[]
      clock.now += 1_000
      await registry.storeEvents([link({ token: 'token-2' }), link({ token: 'token-3', userId: 'b' })])
      await database.commit(registry.unlink(devices, 'fcm 404 UNREGISTERED'))
      assert.equal(await ownerOf(registry, '1', 'token-1'), 'nobody')
      assert.equal(await ownerOf(registry, '1', 'token-2'), 'a', 'linked again after it was read')
      assert.equal(await ownerOf(registry, '1', 'token-3'), 'b', 'moved after it was read')
      assert.equal(await ownerOf(registry, '2', 'token-1'), 'a')
      const removed = await registry.listRemoved({ brand: '1' })
      assert.deepEqual(
        removed.map(({ token, why, removed_at, restorable }) => [token, why, removed_at, restorable]),
        [['token-1', 'fcm 404 UNREGISTERED', clock.now, 1]],
      )
      assert.deepEqual(await registry.listRemoved({ brand: '2' }), [])
      clock.now += 1_000
      assert.deepEqual(await registry.storeEvents([link()]), ['linked'], 'the user has installed the app again')
    },
  )

  check('a link from before a removal that arrives after it takes effect', async ({ database, registry, clock }) => {
    await registry.storeEvents([link()])
    const device = await onlyDevice(registry, '1', 'a')
    // Another process stamped the link before the removal, and the link arrives after it.
    clock.now += 5_000
    await database.commit(registry.unlink([device], 'gone'))
    assert.deepEqual(await registry.storeEvents([link({ at: timestampOf(start + 1_000) })]), ['linked'])
  })

  check('removed devices are restored by brand, reason, user and time, once', async ({ database, registry, clock }) => {
    const users = ['a', 'b', 'c', 'd']
    for (const brand of ['1', '2'])
      await registry.storeEvents(
        users.map((userId) => link({ brand, userId, token: `token of ${userId}`, kind: 'apns', app: 'x' })),
      )
    const all = (brand: string) => registry.findDevices(brand, users, lookUp)
    const before = await all('1')
    for (const [i, why] of ['wrong topic', 'wrong topic', 'unregistered', 'wrong topic'].entries()) {
      clock.now = start + 10_000 * (i + 1)
      const device = (await all('1')).get(users[i] as string)?.[0] as Device
      await database.commit(registry.unlink([device], why))
    }
    await database.commit(registry.unlink([...(await all('2')).values()].flat(), 'wrong topic'))
    assert.equal((await all('1')).size, 0)

    assert.equal(await registry.restore({ brand: '1', why: 'wrong topic', until: start + 20_000, userId: 'a' }), 1)
    assert.deepEqual([...(await all('1')).keys()], ['a'])
    assert.equal(await registry.restore({ brand: '1', why: 'wrong topic', since: start + 20_001 }), 1)
    assert.deepEqual([...(await all('1')).keys()].sort(), ['a', 'd'])
    assert.equal(await registry.restore({ brand: '1' }), 2)
    assert.equal(await registry.restore({ brand: '1' }), 0)
    assert.equal((await all('2')).size, 0, 'the removals of the other brand stay')
    for (const [userId, [device]] of await all('1')) {
      const { linkedAt: _, ...rest } = device as Device
      const { linkedAt: __, ...original } = (before.get(userId) as Device[])[0] as Device
      assert.deepEqual(rest, original)
    }
    const listed = await registry.listRemoved({ brand: '1' })
    assert.ok(listed.every((row) => row.restored_at === clock.now && row.restorable === 0))
    // The devices are removed again and restored again.
    await database.commit(registry.unlink([...(await all('1')).values()].flat(), 'again'))
    assert.equal((await all('1')).size, 0)
    assert.equal(await registry.restore({ brand: '1', why: 'again' }), 4)
  })

  check('a restore does not undo a later logout, move or link', async ({ database, registry, clock }) => {
    const tokens = ['out', 'moved', 'again', 'gone']
    await registry.storeEvents(tokens.map((token) => link({ token })))
    await database.commit(
      registry.unlink((await registry.findDevices('1', ['a'], lookUp)).get('a') as Device[], 'wrong project'),
    )
    clock.now += 1_000
    await registry.storeEvents([
      unlink({ token: 'out' }),
      link({ token: 'moved', userId: 'b' }),
      link({ token: 'again' }),
    ])
    const { linkedAt } = await onlyDevice(registry, '1', 'a')
    assert.equal(await registry.restore({ brand: '1' }), 1)
    assert.equal(await ownerOf(registry, '1', 'out'), 'nobody')
    assert.equal(await ownerOf(registry, '1', 'moved'), 'b')
    assert.deepEqual(await tokensOf(registry, '1', 'a'), ['again', 'gone'])
    const again = (await registry.findDevices('1', ['a'], lookUp)).get('a')?.find(({ token }) => token === 'again')
    assert.equal(again?.linkedAt, linkedAt)
  })

  check('a logout that arrives after the restore of its device takes effect', async ({ database, registry, clock }) => {
    await registry.storeEvents([link()])
    clock.now += 1_000
    await registry.remove([await onlyDevice(registry, '1', 'a')], 'wrong project')
    clock.now += 10_000
    assert.equal(await registry.restore({ brand: '1' }), 1)
    assert.deepEqual(await registry.storeEvents([unlink({ at: timestampOf(start + 5_000) })]), ['unlinked'])
    // The unlink of token-2 is stored while the restore is running.
    await registry.storeEvents([link({ token: 'token-2' })])
    const device = await onlyDevice(registry, '1', 'a')
    await registry.remove([device], 'wrong project')
    const slow = createRegistry({
      now: () => clock.now,
      database: {
        commit: database.commit,
        async read(op) {
          const rows = await database.read(op)
          await registry.storeEvents([unlink({ token: 'token-2' })])
          return rows
        },
      },
    })
    assert.equal(await slow.restore({ brand: '1' }), 0)
    assert.equal(await ownerOf(registry, '1', 'token-2'), 'nobody')
  })

  check('any number of removals is listed in pages and restored', async ({ database, registry }) => {
    const tokens = Array.from({ length: 2_500 }, (_, i) => `t${i}`)
    await registry.storeEvents(tokens.map((token) => link({ token })))
    await database.commit(
      registry.unlink((await registry.findDevices('1', ['a'], lookUp)).get('a') as Device[], 'storm'),
    )
    const seen = new Set<string>()
    for (let page = await registry.listRemoved({ brand: '1' }, 700); page.length > 0; ) {
      for (const { token } of page) seen.add(token)
      page = await registry.listRemoved({ brand: '1' }, 700, page.at(-1))
    }
    assert.equal(seen.size, 2_500)
    assert.equal(await registry.restore({ brand: '1', why: 'storm' }), 2_500)
    assert.equal((await registry.findDevices('1', ['a'], lookUp)).get('a')?.length, 2_500)
  })

  check('if a user has more devices than the limit, the least recently linked device is removed', async (setup) => {
    const { registry, clock } = setup
    const take = (over: Partial<DeviceEvent>) => registry.storeEvents([link(over)], [], 3)
    for (const token of ['t1', 't2', 't3']) {
      clock.now += 1_000
      await take({ token })
    }
    clock.now += 1_000
    await take({ token: 't1' })
    clock.now += 1_000
    assert.deepEqual(await take({ token: 't4' }), ['linked'])
    assert.deepEqual(
      await tokensOf(registry, '1', 'a'),
      ['t1', 't3', 't4'],
      't1 was linked again, so t2 is the least recently linked',
    )
    const late = link({ token: 't0', at: '2026-01-01T00:00:00' })
    await registry.storeEvents([late], [], 3)
    assert.deepEqual(
      await tokensOf(registry, '1', 'a'),
      ['t1', 't3', 't4'],
      'a late link with an old time replaces nothing',
    )
    await take({ token: 't5', userId: 'b' })
    await take({ token: 't5', brand: '2' })
    assert.equal((await tokensOf(registry, '1', 'a')).length, 3, 'other users and brands do not count')
    await registry.storeEvents(
      ['t6', 't7', 't8', 't9'].map((token) => link({ token })),
      [],
      3,
    )
    assert.equal((await tokensOf(registry, '1', 'a')).length, 3)
    const [removal] = await registry.listRemoved({ brand: '1' })
    assert.equal(removal?.why, 'replaced: the user has more than 3 devices')
    assert.equal(await registry.restore({ brand: '1' }), 0, 'the tokens of replaced devices are deleted')
  })

  check('the token of a device is stored while it is linked, or while its removal can be restored', async (setup) => {
    const { registry, database, clock } = setup
    const stored = async (): Promise<readonly string[]> =>
      (await database.read(op(selectTokens, [[]]))).map(({ token }) => token)
    await registry.storeEvents([link({ token: 't1' }), link({ token: 't2' }), link({ token: 't3' })])
    clock.now += 1_000
    await registry.storeEvents([link({ token: 't1', what: 'unlink' })])
    assert.deepEqual(await stored(), ['t2', 't3'], 'an unlink by the user')
    // An unlink may arrive before its link.
    await registry.storeEvents([link({ token: 't4', what: 'unlink', at: '2026-06-01T10:00:09' })])
    await registry.storeEvents([link({ token: 't4', at: '2026-06-01T10:00:08' })])
    assert.deepEqual(await stored(), ['t2', 't3'], 'a link that an earlier arrival ended')
    const removed = (await registry.findDevices('1', ['a'], lookUp)).get('a') ?? []
    await registry.remove(removed, 'unregistered')
    assert.deepEqual(await stored(), ['t2', 't3'], 'a removal that can be restored')
    await registry.storeEvents([link({ token: 't2', what: 'unlink' })])
    assert.deepEqual(await stored(), ['t3'], 'an unlink by the user after the removal')
    assert.equal(await registry.restore({ brand: '1' }), 1)
    assert.deepEqual(await tokensOf(registry, '1', 'a'), ['t3'])
    await registry.remove((await registry.findDevices('1', ['a'], lookUp)).get('a') ?? [], 'unregistered')
    await forgetRemovals(database, clock.now + 1)
    assert.deepEqual(await stored(), [], 'a removal that was forgotten')
  })

  check('a device that the limit removed is linked again by a newer link only', async (setup) => {
    const { registry } = setup
    const at = (second: number) => `2026-06-01T10:00:0${second}`
    await registry.storeEvents([link({ token: 't1', at: at(1) }), link({ token: 't2', at: at(2) })], [], 1)
    assert.deepEqual(await tokensOf(registry, '1', 'a'), ['t2'])
    await registry.storeEvents([link({ token: 't1', at: at(1) })], [], 2)
    assert.deepEqual(await tokensOf(registry, '1', 'a'), ['t2'], 'the repeated link changes nothing')
    await registry.storeEvents([link({ token: 't1', at: at(3) })], [], 2)
    assert.deepEqual(await tokensOf(registry, '1', 'a'), ['t1', 't2'])
  })

  // ── retention ──

  check(
    'old unlinks and the links that they ended are deleted, current links never',
    async ({ database, registry, clock }) => {
      await registry.storeEvents([
        link({ token: 'live', at: '2020-01-01T00:00:00' }),
        link({ token: 'ended' }),
        link({ token: 'moved' }),
        link({ token: 'back' }),
        link({ token: 'ended', brand: '2' }),
      ])
      clock.now += 1_000
      await registry.storeEvents([
        unlink({ token: 'ended' }),
        unlink({ token: 'never linked' }),
        unlink({ token: 'moved' }),
        unlink({ token: 'back' }),
      ])
      clock.now += 1_000
      await registry.storeEvents([link({ token: 'moved', userId: 'b' }), link({ token: 'back' })])
      clock.now += day
      await registry.storeEvents([link({ token: 'later' })])
      clock.now += 1
      await registry.storeEvents([unlink({ token: 'later' })])

      assert.equal(await forgetUnlinks(database, start), 0, 'no unlink is old enough')
      assert.ok((await forgetUnlinks(database, start + day)) > 0)
      assert.equal(await forgetUnlinks(database, start + day), 0)
      const holders = ['live', 'ended', 'never linked', 'moved', 'back', 'later'].map((token) =>
        ownerOf(registry, '1', token),
      )
      assert.deepEqual(await Promise.all(holders), ['a', undefined, undefined, 'b', 'a', 'nobody'])
      assert.equal(await ownerOf(registry, '2', 'ended'), 'a')
    },
  )

  check(
    'an unlink that is renewed while old unlinks are being deleted stays',
    async ({ database, registry, clock }) => {
      await registry.storeEvents([
        link({ at: '2026-06-01T11:00:00' }),
        unlink({ token: 'other' }),
        unlink({ token: 'third' }),
      ])
      await registry.storeEvents([unlink({ at: '2026-06-01T11:30:00' })])
      clock.now += 100 * day
      const slow: Database = {
        ...database,
        async read(op) {
          const rows = await database.read(op)
          await registry.storeEvents([
            unlink({ at: '2026-06-01T12:00:30' }),
            unlink({ token: 'other', at: '2026-06-01T12:00:30' }),
          ])
          return rows
        },
      }
      assert.equal(await forgetUnlinks(slow, start + 1), 3)
      assert.equal(await ownerOf(registry, '1', 'third'), undefined)
      assert.equal(await ownerOf(registry, '1', 'other'), 'nobody')
      assert.equal(await ownerOf(registry, '1', 'token-1'), 'nobody')
      assert.deepEqual(
        await registry.storeEvents([link({ at: '2026-06-01T12:00:00' })]),
        ['none'],
        'a late link does not come back',
      )
    },
  )

  check('removals are kept for 30 days, and cannot be restored afterwards', async ({ database, registry, clock }) => {
    await registry.storeEvents([link()])
    await database.commit(registry.unlink([await onlyDevice(registry, '1', 'a')], 'gone'))
    clock.now += 30 * day + 1
    assert.deepEqual(await registry.listRemoved({ brand: '1' }), [])
    assert.equal(await registry.restore({ brand: '1' }), 0)
    assert.equal(await forgetRemovals(database, start), 0)
    assert.equal(await forgetRemovals(database, start + 1), 1)
  })
}

/** Returns a generator of numbers below `n`, with the same sequence in each run. */
function randomFrom(seed: number): (n: number) => number {
  let state = seed
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}
