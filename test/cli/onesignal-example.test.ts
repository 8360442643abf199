// Runs examples/onesignal.yaml against a server that, like OneSignal, verifies the key, the app and the idempotency key.

import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { apiKey, appId, startPushProvider } from '../providers/http/push-provider.ts'
import { element, post, temporary } from '../support/sides.ts'
import { addressesOf, freePorts, start } from './bellwire.ts'

test('the OneSignal example sends once to each user id, even if an answer is lost', async (t) => {
  const folder = await temporary(t)
  const config = join(folder, 'onesignal.yaml')
  await copyFile(join(import.meta.dirname, '../../examples/onesignal.yaml'), config)
  const provider = await startPushProvider(t)
  const operator = start(t, ['operator', '--config', config], {
    ...freePorts,
    BELLWIRE_OPERATOR_PUSH_URL: `${provider.url}/notifications`,
    BELLWIRE_OPERATOR_PUSH_SECRETS_0_VALUE: appId,
    BELLWIRE_OPERATOR_PUSH_SECRETS_1_VALUE: apiKey,
  })
  const { url } = await addressesOf(operator)
  const key = 'example-operator-key-1'

  const first = await post(`${url}/channels/push/single`, element(), key)
  assert.equal(first.status, 200, first.text)
  assert.deepEqual(provider.sent, [first.body.push_id])

  const batch = [
    element({ brand_id: 2 }, { overrides: { http: { priority: 10, included_segments: ['All'] } } }),
    element({ user_id: 'nobody' }),
    element({ user_id: '..' }),
  ]
  const answer = await post(`${url}/channels/push/batch`, batch, key)
  assert.deepEqual(
    [answer.body.successful.length, answer.body.failed.length, answer.body.fatal.length],
    [1, 2, 0],
    answer.text,
  )
  assert.match(answer.body.failed[0].error, /has no user with this external id/)
  const sent = provider.requests.map(({ text }) => JSON.parse(text))
  assert.deepEqual(sent.map((body) => body.include_aliases.external_id[0]).sort(), [
    '1-..',
    '1-1001',
    '1-nobody',
    '2-1001',
  ])
  const second = sent.find((body) => body.include_aliases.external_id[0] === '2-1001')
  assert.deepEqual([second.priority, second.included_segments], [10, undefined])

  let lost = true
  provider.script = (asked, response) => {
    if (!lost) return false
    lost = false
    response.destroy()
    return asked.path !== ''
  }
  const message = element()
  const gone = await post(`${url}/channels/push/single`, message, key)
  assert.equal(gone.status, 503, gone.text)
  const again = await post(`${url}/channels/push/single`, message, key)
  assert.equal(again.status, 200, again.text)
  const keys = provider.requests.slice(-2).map(({ text }) => JSON.parse(text).idempotency_key)
  assert.deepEqual(keys, [again.body.push_id, again.body.push_id])

  operator.child.kill('SIGTERM')
  const { code, out, err } = await operator.ended
  assert.equal(code, 0, err)
  for (const secret of [appId, apiKey, key]) assert.ok(!out.includes(secret) && !err.includes(secret))
})
