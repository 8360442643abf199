// bellwire doctor --send: one message through the whole way, its exit code and its metrics.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { adminKey, keys, startOperator, startPlatform, temporary, witness } from '../support/sides.ts'
import { run } from './bellwire.ts'

const refusedUser = 'refused'
const provider = () =>
  witness(({ userId, ref }) =>
    userId === refusedUser
      ? { category: 'failed', reason: 'rejected', error: 'the provider refused it', rule: 'refused' }
      : { category: 'successful', ref, rule: 'accepted' },
  )
const metric = (text: string, name: string): number =>
  Number(new RegExp(`^bellwire_canary_${name}\\{brand="1",channel="push"\\} (\\S+)$`, 'm').exec(text)?.[1])

test('a canary goes through the platform and the operator to the provider', async (t) => {
  const push = provider()
  const operator = await startOperator(t, { push })
  const lane = { brand: '1', channel: 'push', mode: 'batch', spanMs: 0 } as const
  const to = operatorApi({ url: operator.url, apiKey: keys.one.key })
  const platform = await startPlatform(t, { lanes: [{ ...lane, provider: to }] })
  const folder = await temporary(t)
  const config = join(folder, 'bellwire.yaml')
  await writeFile(
    config,
    `platform:
  port: ${new URL(platform.url).port}
  keys: [{name: canary, key: ${adminKey.key}, scopes: [enqueue, counts, read]}]
  lanes: [{brand: 1, channel: push, to: {provider: operator-api, url: "${operator.url}", api_key: ${keys.one.key}}}]
accept_risks: [weak_keys]
`,
  )
  const metrics = join(folder, 'canary.prom')
  const send = (user: string, to = metrics) =>
    run(['doctor', '--send', user, '--config', config, '--metrics-file', to, '--timeout', '30s', '--json'])

  const delivered = await send('1001')
  assert.equal(delivered.code, 0, delivered.err)
  const { ok, through, activity_id: id } = JSON.parse(delivered.out)
  assert.deepEqual({ ok, through }, { ok: true, through: 'platform' })
  assert.deepEqual(
    push.received.map((message) => [message.id, message.userId]),
    [[id, '1001']],
  )
  const after = await readFile(metrics, 'utf8')
  assert.equal(metric(after, 'up'), 1)
  assert.ok(metric(after, 'last_success_timestamp_seconds') > 0)

  const refused = await send(refusedUser)
  assert.equal(refused.code, 1)
  assert.match(JSON.parse(refused.out).error, /the provider refused it/)
  const then = await readFile(metrics, 'utf8')
  assert.equal(metric(then, 'up'), 0)
  const name = 'last_success_timestamp_seconds'
  assert.equal(metric(then, name), metric(after, name), 'the time of the last success is kept')

  const unwritten = await send('1001', join(folder, 'no folder', 'canary.prom'))
  assert.deepEqual([unwritten.code, /--metrics-file cannot be written: ENOENT/.test(unwritten.err)], [2, true])
  assert.equal(JSON.parse(unwritten.out).ok, true, 'the result is printed nevertheless')
})

test('without a platform, a canary goes to the operator; one that is away is a failure with metrics', async (t) => {
  const push = provider()
  const operator = await startOperator(t, { push })
  const folder = await temporary(t)
  const config = join(folder, 'bellwire.yaml')
  const metrics = join(folder, 'canary.prom')
  await writeFile(
    config,
    `operator:
  port: ${new URL(operator.url).port}
  keys: [{name: platform, key: ${keys.one.key}, brands: [1]}]
  suppression: none
  push: recording
accept_risks: [weak_keys]
`,
  )
  const send = (user: string) => run(['doctor', '--send', user, '--config', config, '--metrics-file', metrics])
  const delivered = await send('1001')
  assert.equal(delivered.code, 0, delivered.err)
  assert.match(delivered.out, /message \d+ was delivered through the operator in/)
  assert.equal(push.received.length, 1)
  await operator.stop()
  const away = await send('1001')
  assert.equal(away.code, 1)
  assert.match(away.out, /was not delivered through the operator: .*ECONNREFUSED/)
  assert.equal(metric(await readFile(metrics, 'utf8'), 'up'), 0)
})
