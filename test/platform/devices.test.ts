// The device endpoints of §4.2, called as an operator.

import assert from 'node:assert/strict'
import { deviceLink, deviceUnlink } from '../../src/contract/endpoints.ts'
import { onSqlite } from '../support/engines.ts'
import { type Answer, adminKey, get, post, startPlatform } from '../support/sides.ts'
import { event } from '../support/wait.ts'

const one = { name: 'operator of brand 1', key: 'operator-key-of-brand-1', scopes: ['devices'], brands: ['1'] } as const
const two = { name: 'operator of brand 2', key: 'operator-key-of-brand-2', scopes: ['devices'], brands: ['2'] } as const
const both = { name: 'both', key: 'operator-key-both', scopes: ['devices'], brands: ['1', '2'] } as const
const any = { name: 'any', key: 'operator-key-any', scopes: ['devices'] } as const
const keys = [adminKey, one, two, both, any]

const record = (over: object = {}) => ({
  user_id: '1001',
  tokens: [{ token: 't1', channel: 'android', provider: 'firebase' }],
  timestamp: '2026-01-01T10:00:00.123456Z',
  origin: 'www.example.com',
  ...over,
})
const devicesOf = async (url: string, brand: string, userId = '1001'): Promise<Answer['body'][]> =>
  (await get(`${url}/admin/devices?brand=${brand}&user_id=${userId}`)).body.devices

onSqlite('an operator links and unlinks devices, each key in its own brand', async (t, store) => {
  const { url } = await startPlatform(t, { store, keys, lanes: [] })
  const link = (body: unknown, key: string) => post(url + deviceLink.path, body, key)
  const unlink = (body: unknown, key: string) => post(url + deviceUnlink.path, body, key)
  const linked = await link(record(), one.key)
  assert.deepEqual([linked.status, linked.text], [200, '{"accepted":1}'])
  await link(record(), two.key)
  assert.partialDeepStrictEqual((await devicesOf(url, '1'))[0], {
    user_id: '1001',
    kind: 'fcm_token',
    channel: 'android',
    origin: 'www.example.com',
    linked_at: '2026-01-01T10:00:00.123456Z',
  })
  assert.equal((await unlink(record({ timestamp: '2026-01-01T10:00:00.123455Z' }), one.key)).status, 200)
  assert.equal((await devicesOf(url, '1')).length, 1, 'the unlink was older than the link')
  assert.equal((await unlink(record({ timestamp: '2026-01-01T11:00:00.123456+01:00' }), one.key)).status, 200)
  assert.equal((await devicesOf(url, '1')).length, 0)
  assert.equal((await devicesOf(url, '2')).length, 1)
  assert.equal((await link(record(), one.key)).status, 200)
  assert.equal((await devicesOf(url, '1')).length, 0, 'the link was repeated')
  assert.equal((await link(record({ tokens: [] }), one.key)).text, '{"accepted":0}')
})

onSqlite(
  'an unreadable record is answered 400, an unknown key 401, and a key without exactly one brand 403',
  async (t, store) => {
    const { url } = await startPlatform(t, { store, keys, lanes: [] })
    for (const path of [deviceLink.path, deviceUnlink.path]) {
      for (const [body, why] of [
        ['', /empty/],
        ['{', /JSON/],
        ['[]', /not a JSON object/],
        [record({ user_id: 1001 }), /user_id is 1001: give a string/],
        [record({ tokens: undefined }), /tokens is missing/],
        [record({ timestamp: 'yesterday' }), /timestamp/],
        [record({ timestamp: undefined }), /timestamp is missing/],
        [record({ tokens: [{ token: 't', channel: 'windows', provider: 'firebase' }] }), /channel is "windows"/],
        [record({ tokens: [{ token: 't', channel: 'web' }] }), /provider is missing/],
      ] as const) {
        const answer = await post(url + path, body, one.key)
        assert.equal(answer.status, 400, answer.text)
        assert.match(answer.body.error, why)
      }
      for (const key of [undefined, 'unknown']) {
        const answer = await fetch(url + path, {
          method: 'POST',
          headers: key ? { 'x-api-key': key } : {},
          body: JSON.stringify(record()),
        })
        assert.equal(answer.status, 401)
      }
      for (const key of [both, any, adminKey]) {
        const answer = await post(url + path, record(), key.key)
        assert.equal(answer.status, 403)
        assert.match(answer.body.error, /exactly one brand|scope devices/)
      }
    }
    assert.deepEqual([...(await devicesOf(url, '1')), ...(await devicesOf(url, '2'))], [])
  },
)

onSqlite('a link from the future is stored with the current time, and a later unlink applies', async (t, store) => {
  const { url } = await startPlatform(t, { store, keys, lanes: [] })
  const warned = event('device.clamped')
  await post(url + deviceLink.path, record({ timestamp: '2999-01-01T00:00:00Z' }), one.key)
  assert.partialDeepStrictEqual(await warned, { brand: '1', origin: 'www.example.com' })
  assert.equal((await devicesOf(url, '1')).length, 1)
  await post(url + deviceUnlink.path, record({ timestamp: new Date(Date.now() + 1_000).toISOString() }), one.key)
  assert.equal((await devicesOf(url, '1')).length, 0)
})
