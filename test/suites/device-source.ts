// What every DeviceSource must do when it is asked. Run by test/devices/sources.test.ts for our registry and for the
// sources of operators who keep their tokens elsewhere.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Device } from '../../src/devices/device.ts'
import type { DeviceSource, LookUp } from '../../src/devices/device-source.ts'
import { deviceId } from '../../src/devices/identity.ts'
import { subscription } from '../devices/subscription.ts'

export interface Known {
  readonly brand: string
  /** null: its token is known, and nobody's. */
  readonly userId: string | null
  readonly token: string
  readonly kind: string
  readonly app?: string
  readonly environment?: string
}

export interface SourceFixture {
  readonly name: string
  readonly skip?: string | false
  /** A source that knows these devices. */
  readonly knowing: (t: TestContext, known: readonly Known[]) => Promise<DeviceSource>
}

export const look = (withinMs = 10_000): LookUp => ({
  deadline: Date.now() + withinMs,
  signal: new AbortController().signal,
})

const browser = subscription('https://push.example/send/abc')

export const known: readonly Known[] = [
  { brand: '1', userId: '1001', token: 't1', kind: 'fcm_token' },
  { brand: '1', userId: '1001', token: 't2', kind: 'apns', app: 'com.example', environment: 'sandbox' },
  { brand: '1', userId: '2002', token: browser.token, kind: 'webpush' },
  { brand: '1', userId: `o'brien "x" {é}`, token: 't4', kind: 'http:own' },
  { brand: '2', userId: '1001', token: 't1', kind: 'fcm_fid' },
  { brand: '1', userId: null, token: 'gone', kind: 'fcm_token' },
]

function plain({ linkedAt: _, id, ...rest }: Device): Omit<Device, 'linkedAt' | 'id'> {
  if (id !== undefined) assert.equal(id, deviceId(rest.token))
  return rest
}

export function deviceSourceSuite({ name, skip = false, knowing }: SourceFixture): void {
  const check = (title: string, run: (source: DeviceSource) => Promise<void>): void => {
    test(`${name}: ${title}`, { skip, timeout: 60_000 }, async (t) => {
      const source = await knowing(t, known)
      t.after(() => source.close?.())
      await run(source)
    })
  }

  check('all devices of all users that are asked about, in their brand', async (source) => {
    const found = await source.of('1', ['1001', '2002', `o'brien "x" {é}`, 'nobody', '1001'], look())
    assert.deepEqual([...found.keys()].sort(), ['1001', '2002', `o'brien "x" {é}`].sort())
    const mine = (found.get('1001') ?? []).map(plain).sort((a, b) => (a.token < b.token ? -1 : 1))
    assert.deepEqual(mine, [
      { brand: '1', userId: '1001', kind: 'fcm_token', token: 't1' },
      { brand: '1', userId: '1001', kind: 'apns', token: 't2', app: 'com.example', environment: 'sandbox' },
    ])
    assert.deepEqual((found.get('2002') ?? []).map(plain), [
      { brand: '1', userId: '2002', kind: 'webpush', token: browser.token },
    ])
    const other = await source.of('2', ['1001', '2002'], look())
    assert.deepEqual(
      [...other].map(([id, devices]) => [id, devices.map(plain)]),
      [['1001', [{ brand: '2', userId: '1001', kind: 'fcm_fid', token: 't1' }]]],
    )
  })

  check('nobody is asked about: nothing', async (source) => {
    assert.equal((await source.of('1', [], look())).size, 0)
    assert.equal((await source.holders('1', [], look())).size, 0)
    assert.equal((await source.of('3', ['1001'], look())).size, 0)
  })

  check('whose a token is: a user’s, nobody’s, or never seen', async (source) => {
    const holders = await source.holders('1', ['t1', 'gone', 'never seen', browser.token], look())
    const shown = new Map([...holders].map(([token, holder]) => [token, holder === 'nobody' ? holder : holder.userId]))
    assert.deepEqual(
      shown,
      new Map([
        ['t1', '1001'],
        ['gone', 'nobody'],
        [browser.token, '2002'],
      ]),
    )
    const [[, device] = []] = [...(await source.holders('2', ['t1', 'gone'], look()))]
    assert.deepEqual(plain(device as Device), { brand: '2', userId: '1001', kind: 'fcm_fid', token: 't1' })
  })

  check('a thousand users at once', async (source) => {
    const users = [...Array.from({ length: 1_000 }, (_, i) => `u${i}`), '1001']
    const found = await source.of('1', users, look())
    assert.deepEqual([...found.keys()], ['1001'])
  })
}
