// The requirements for every DeviceSource. Run by test/devices/sources.test.ts for the registry, and for the sources of
// operators who store their tokens elsewhere.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Device } from '../../src/subjects/devices/device.ts'
import type { DeviceSource } from '../../src/subjects/devices/device-source.ts'
import { deviceId } from '../../src/subjects/devices/identity.ts'
import { subscription } from '../devices/subscription.ts'
import { contextOf } from '../support/context.ts'

export interface KnownDevice {
  readonly brand: string
  /** null: the token is known and belongs to nobody. */
  readonly userId: string | null
  readonly token: string
  readonly kind: string
  readonly app?: string
  readonly environment?: string
}

export interface SourceFixture {
  readonly name: string
  readonly skip?: string | false
  /** Opens a source that contains these devices. */
  readonly open: (t: TestContext, known: readonly KnownDevice[]) => Promise<DeviceSource>
}

const browser = subscription('https://push.example/send/abc')

export const known: readonly KnownDevice[] = [
  { brand: '1', userId: '1001', token: 't1', kind: 'fcm_token' },
  { brand: '1', userId: '1001', token: 't2', kind: 'apns', app: 'com.example', environment: 'sandbox' },
  { brand: '1', userId: '2002', token: browser.token, kind: 'webpush' },
  { brand: '1', userId: `o'brien "x" {é}`, token: 't4', kind: 'http:own' },
  { brand: '2', userId: '1001', token: 't1', kind: 'fcm_fid' },
  { brand: '1', userId: null, token: 'gone', kind: 'fcm_token' },
]

function withoutLinkTime({ linkedAt: _, id, ...rest }: Device): Omit<Device, 'linkedAt' | 'id'> {
  if (id !== undefined) assert.equal(id, deviceId(rest.token))
  return rest
}

export function deviceSourceSuite({ name, skip = false, open }: SourceFixture): void {
  const check = (title: string, run: (source: DeviceSource) => Promise<void>): void => {
    test(`${name}: ${title}`, { skip, timeout: 60_000 }, async (t) => {
      const source = await open(t, known)
      t.after(() => source.close?.())
      await run(source)
    })
  }

  check('a look-up returns all devices of the requested users in their brand', async (source) => {
    const found = await source.findDevices('1', ['1001', '2002', `o'brien "x" {é}`, 'nobody', '1001'], contextOf())
    assert.deepEqual([...found.keys()].sort(), ['1001', '2002', `o'brien "x" {é}`].sort())
    const devices = (found.get('1001') ?? []).map(withoutLinkTime).sort((a, b) => (a.token < b.token ? -1 : 1))
    assert.deepEqual(devices, [
      { brand: '1', userId: '1001', kind: 'fcm_token', token: 't1' },
      { brand: '1', userId: '1001', kind: 'apns', token: 't2', app: 'com.example', environment: 'sandbox' },
    ])
    assert.deepEqual((found.get('2002') ?? []).map(withoutLinkTime), [
      { brand: '1', userId: '2002', kind: 'webpush', token: browser.token },
    ])
    const other = await source.findDevices('2', ['1001', '2002'], contextOf())
    assert.deepEqual(
      [...other].map(([id, found]) => [id, found.map(withoutLinkTime)]),
      [['1001', [{ brand: '2', userId: '1001', kind: 'fcm_fid', token: 't1' }]]],
    )
  })

  check('a look-up without users or tokens, or in an unknown brand, returns nothing', async (source) => {
    assert.equal((await source.findDevices('1', [], contextOf())).size, 0)
    assert.equal((await source.findHolders('1', [], contextOf())).size, 0)
    assert.equal((await source.findDevices('3', ['1001'], contextOf())).size, 0)
  })

  check('findHolders() distinguishes a token of a user, a token of nobody, and an unknown token', async (source) => {
    const holders = await source.findHolders('1', ['t1', 'gone', 'never seen', browser.token], contextOf())
    const owners = new Map([...holders].map(([token, holder]) => [token, holder === 'nobody' ? holder : holder.userId]))
    assert.deepEqual(
      owners,
      new Map([
        ['t1', '1001'],
        ['gone', 'nobody'],
        [browser.token, '2002'],
      ]),
    )
    const [[, device] = []] = [...(await source.findHolders('2', ['t1', 'gone'], contextOf()))]
    assert.deepEqual(withoutLinkTime(device as Device), { brand: '2', userId: '1001', kind: 'fcm_fid', token: 't1' })
  })

  check('one look-up can contain a thousand users', async (source) => {
    const users = [...Array.from({ length: 1_000 }, (_, i) => `u${i}`), '1001']
    const found = await source.findDevices('1', users, contextOf())
    assert.deepEqual([...found.keys()], ['1001'])
  })
}
