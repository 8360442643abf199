import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { type AcceptedKey, createAcceptedKeys, measureExpiries } from '../../src/base/http/accepted-keys.ts'
import { clock } from '../../src/base/runtime/clock.ts'
import { on } from '../../src/base/runtime/events.ts'
import { metricsText } from '../../src/base/runtime/metrics.ts'
import { stoppableClock } from '../support/set-clock.ts'
import { adminKey, element, get, post, keys as sidesKeys, startOperator } from '../support/sides.ts'

const here = '127.0.0.1'
const old = { name: 'old', key: 'key-of-last-year' }
const fresh = { name: 'fresh', keySha256: hash('sha256', 'key-of-this-year') }

test('each of two valid keys is found by the key or by its SHA-256, and no other text', () => {
  const keys = createAcceptedKeys<AcceptedKey>([old, fresh])
  assert.equal(keys.find('key-of-last-year', here), old)
  assert.equal(keys.find('key-of-this-year', here), fresh)
  const wrong = ['', 'key-of-this-yea', 'key-of-this-year ', 'KEY-OF-THIS-YEAR', 'x'.repeat(600), fresh.keySha256]
  for (const text of [undefined, ...wrong]) assert.equal(keys.find(text, here), undefined, JSON.stringify(text))
  assert.equal(createAcceptedKeys([]).find('', here), undefined, 'without keys')
})

test('a key is found only from its networks, in IPv4, IPv6 and IPv4 within IPv6', () => {
  const keys = createAcceptedKeys([{ ...old, from: ['10.1.0.0/16', '192.0.2.7', '2001:db8::/32'] }])
  for (const inside of ['10.1.255.3', '192.0.2.7', '::ffff:10.1.0.9', '2001:db8:1::5'])
    assert.equal(keys.find(old.key, inside)?.name, 'old', inside)
  for (const outside of ['10.2.0.1', '192.0.2.8', '::ffff:10.2.0.1', '2001:db9::1', '::1', ''])
    assert.equal(keys.find(old.key, outside), undefined, outside)
})

const told = (t: TestContext) => {
  const events: string[] = []
  for (const name of ['key.expires', 'key.expired', 'key.address_refused'] as const)
    t.after(on(name, (event) => events.push(`${name} ${event.name}`)))
  return events
}

test('a key expires at its time, and is named in the log from 14 days before', (t) => {
  const events = told(t)
  let now = 0
  t.mock.method(clock, 'now', () => now)
  const key = { ...old, expiresAt: '2027-01-31T02:00:00+02:00' }
  const keys = createAcceptedKeys([key])
  const checks: [at: string, expired: boolean, events: string[]][] = [
    ['2027-01-16T23:59:59Z', false, []],
    ['2027-01-18T00:00:00Z', false, ['key.expires old']],
    ['2027-01-30T23:59:59Z', false, ['key.expires old']],
    ['2027-01-31T00:00:00Z', true, ['key.expires old', 'key.expired old']],
  ]
  for (const [at, expired, seen] of checks) {
    now = Date.parse(at)
    assert.equal(keys.use(key), !expired, at)
    assert.deepEqual(events, seen, at)
  }
})

test('/metrics has when each used key expires, of one name the earliest, and none of an expired or unused key', async (t) => {
  let now = Date.parse('2027-01-01T00:00:00Z')
  t.mock.method(clock, 'now', () => now)
  const key = { name: 'crm', key: 'the-key-of-the-crm-1', expiresAt: '2027-01-31T00:00:00Z' }
  const [main, admin] = [
    createAcceptedKeys([key, { ...key, name: 'unused' }]),
    createAcceptedKeys([{ ...key, expiresAt: '2027-01-08T00:00:00Z' }]),
  ]
  t.after(measureExpiries([main, admin]))
  const expiries = async () =>
    [...(await metricsText()).matchAll(/^bellwire_key_expires_timestamp_seconds(.*) (\S+)$/gm)].map(
      ([, labels, at]) => `${labels} ${new Date(Number(at) * 1_000).toISOString()}`,
    )
  assert.deepEqual(await expiries(), [])
  for (const keys of [main, admin]) keys.use(keys.list()[0]?.key ?? assert.fail())
  assert.deepEqual(await expiries(), ['{key="crm"} 2027-01-08T00:00:00.000Z'])
  now = Date.parse('2027-01-08T00:00:00Z')
  assert.deepEqual(await expiries(), ['{key="crm"} 2027-01-31T00:00:00.000Z'])
})

const send = (url: string, key: string, address = '192.0.2.1') =>
  post(`${url}/channels/push/single`, element(), key, { 'x-forwarded-for': address })

test('an expired key is refused with its name, its time and the remedy', async (t) => {
  const expired = { ...sidesKeys.one, expiresAt: '2020-01-01T00:00:00Z' }
  const { url } = await startOperator(t, { keys: [expired, sidesKeys.both] })
  const { status, body } = await send(url, expired.key)
  assert.equal(status, 401)
  assert.match(body.error, /^the API key platform of brand 1 expired at 2020-01-01T00:00:00Z: ask for a new key/)
  assert.equal((await send(url, sidesKeys.both.key)).status, 200)
})

test('a key from another address is answered and slowed down like a wrong key, and the proxy names the address', async (t) => {
  const events = told(t)
  const time = stoppableClock(t)
  const bound = { ...sidesKeys.one, from: ['198.51.100.0/24'] }
  const { url } = await startOperator(t, { keys: [bound], listen: { trustedProxies: ['127.0.0.1'] } })
  // No time passes, so that no further guess is allowed.
  time.stop()
  const wrong = await send(url, 'no-such-key-of-anybody', '203.0.113.9')
  const outside = await send(url, bound.key, '203.0.113.9')
  assert.deepEqual([outside.status, outside.body], [wrong.status, wrong.body], 'a thief learns nothing')
  assert.deepEqual(events, ['key.address_refused platform of brand 1'])
  assert.equal((await send(url, bound.key, '198.51.100.3')).status, 200)
  const tried = await Promise.all(Array.from({ length: 120 }, () => send(url, bound.key, '203.0.113.9')))
  assert.equal(tried.filter(({ status }) => status === 401).length, 98, 'its guesses are used up')
  assert.equal((await send(url, bound.key, '198.51.100.3')).status, 200, 'the holder is not locked out')
})

test('a key of the interface calls only the endpoints of its scopes; without scopes, all', async (t) => {
  const keyOf = (scope: 'send' | 'statuses' | 'reconciliation') =>
    ({ name: scope, key: `the-key-of-${scope}-only`, brands: ['1'], scopes: [scope] }) as const
  const limited = [keyOf('send'), keyOf('statuses'), keyOf('reconciliation')]
  const { url } = await startOperator(t, { keys: [...limited, sidesKeys.one], status: { polling: true } })
  const calls = {
    send: (key: string) => send(url, key),
    statuses: (key: string) => get(`${url}/messages/status`, key),
    reconciliation: (key: string) => post(`${url}/reconciliation`, { field: 'blocked' }, key),
  }
  for (const [scope, call] of Object.entries(calls)) {
    for (const { name, key } of limited) {
      const { status, body } = await call(key)
      const refused = status === 403 && body.error.startsWith(`the API key ${name} lacks the scope ${scope}: ask`)
      assert.equal(refused, name !== scope, `${scope} with the key of ${name}: ${status} ${JSON.stringify(body)}`)
    }
    assert.notEqual((await call(sidesKeys.one.key)).status, 403, scope)
  }
})

test('GET /admin/keys lists the keys without their texts, with their last use', async (t) => {
  const { url } = await startOperator(t, {
    keys: [sidesKeys.one, { ...sidesKeys.two, from: ['10.0.0.0/8'], expiresAt: '2030-01-01T00:00:00Z' }],
  })
  await send(url, sidesKeys.one.key)
  const { status, text, body } = await get(`${url}/admin/keys`)
  assert.equal(status, 200, text)
  assert.ok(![sidesKeys.one.key, sidesKeys.two.key, adminKey.key].some((key) => text.includes(key)))
  assert.deepEqual(
    body.keys.map(({ setting, name, last_used_at: at }: Record<string, string>) => [setting, name, at !== undefined]),
    [
      ['operator.keys', 'platform of brand 1', true],
      ['operator.keys', 'platform of brand 2', false],
      ['operator.admin_keys', 'admin', true],
    ],
  )
  const { fingerprint, ...second } = body.keys[1]
  assert.match(fingerprint, /^sha256:[\da-f]{16}$/)
  assert.deepEqual(second, {
    setting: 'operator.keys',
    name: 'platform of brand 2',
    brands: ['2'],
    from: ['10.0.0.0/8'],
    expires_at: '2030-01-01T00:00:00Z',
  })
})
