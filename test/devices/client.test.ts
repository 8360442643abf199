import assert from 'node:assert/strict'
import test from 'node:test'
import { readTimestamp } from '../../src/contract/timestamp.ts'
import { createDeviceClient, DeviceLinkError, restPublisher } from '../../src/subjects/devices/client.ts'
import { foreignPlatform } from './foreign-platform.ts'

const news = {
  userId: '1001',
  tokens: [{ token: 't1', channel: 'android', provider: 'firebase' }],
  origin: 'www.example.com',
} as const

test('events arrive in the order of the calls, with increasing times', async (t) => {
  const platform = await foreignPlatform(t)
  const client = createDeviceClient(restPublisher({ url: platform.url, apiKey: 'k' }))
  await Promise.all([
    client.linkDevice(news),
    client.unlinkDevice(news),
    client.linkDevice({ ...news, userId: '1002' }),
  ])
  await client.close()
  assert.deepEqual(
    platform.accepted().map(({ what, key, body }) => [what, key, body.user_id]),
    [
      ['link', 'k', '1001'],
      ['unlink', 'k', '1001'],
      ['link', 'k', '1002'],
    ],
  )
  const times = platform.accepted().map(({ body }) => readTimestamp(body.timestamp) as string)
  assert.deepEqual(times, [...new Set(times)].sort())
})

test('an error says whether a retry may succeed, and the next event is published', async (t) => {
  let status = 400
  const platform = await foreignPlatform(t, () => status)
  const client = createDeviceClient(restPublisher({ url: platform.url, apiKey: 'k' }))
  t.after(() => client.close())
  const refused = await client.linkDevice(news).catch((error: unknown) => error)
  assert.ok(refused instanceof DeviceLinkError && !refused.again && refused.message === 'rejected by the test')
  status = 503
  const unavailable = await client.linkDevice(news).catch((error: unknown) => error)
  assert.ok(unavailable instanceof DeviceLinkError && unavailable.again)
  status = 200
  await client.linkDevice({ ...news, timestamp: '2026-01-01T10:00:00.123456789+01:00' })
  assert.equal(platform.accepted()[0]?.body.timestamp, '2026-01-01T10:00:00.123456789+01:00')
  const invalid = await client.linkDevice({ ...news, userId: '' }).catch((error: unknown) => error)
  assert.ok(
    invalid instanceof DeviceLinkError && !invalid.again && /user_id is "": give a string/.test(invalid.message),
  )
  assert.equal(platform.all.length, 3, 'an invalid event is not sent')
})
