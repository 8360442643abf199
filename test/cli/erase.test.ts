// `bellwire erase` against a running operator, a running platform, and both sides of a configuration.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { Result } from '../../src/subjects/providers/provider.ts'
import {
  adminKey,
  element,
  get,
  keys,
  post,
  startOperator,
  startPlatform,
  temporary,
  witness,
} from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { run } from './bellwire.ts'

const erase = (t: TestContext, url: string, args: readonly string[] = [], key = adminKey.key) =>
  run(t, ['erase', '--brand', '1', '--user', 'mary', '--url', url, ...args], { BELLWIRE_KEY: key })

const ofMary = (id: number) => element({ id, user_id: 'mary' }, { title: `Hello ${id}` })

async function startOperatorWithTexts(t: TestContext): Promise<string> {
  const { url } = await startOperator(t)
  await post(`${url}/channels/push/batch`, [ofMary(1), ofMary(2)], keys.one.key)
  await post(`${url}/channels/site/single`, ofMary(3), keys.one.key)
  return url
}

/** A platform with a delivered and a failed message of mary, and one that waits until `open()`. */
async function startPlatformWithTexts(t: TestContext): Promise<{ url: string; open(): Promise<unknown> }> {
  let isOpen = false
  const answer = ({ id }: { id: string }): Result => {
    if (id === '1') return { category: 'successful', ref: 'a', rule: 'accepted' }
    if (id === '2') return { category: 'failed', reason: 'rejected', error: 'no', rule: 'refused' }
    return isOpen
      ? { category: 'successful', ref: 'b', rule: 'accepted' }
      : { category: 'fatal', reason: 'unavailable', blame: 'message', error: 'later', rule: 'busy' }
  }
  const retry = { firstMs: 20, mostMs: 50 }
  const lane = { brand: '1', channel: 'push', mode: 'single', provider: witness(answer), retry } as const
  const { url } = await startPlatform(t, { lanes: [lane] })
  await post(`${url}/admin/activities/push`, [1, 2, 3].map(ofMary), adminKey.key)
  const settled = (count: number) =>
    until(async () => (await get(`${url}/admin/summary`)).body.waiting === 3 - count, { awaited: `${count} settled` })
  await settled(2)
  return {
    url,
    open() {
      isOpen = true
      return settled(3)
    },
  }
}

test('bellwire erase at an operator prints what was erased', async (t) => {
  const url = await startOperatorWithTexts(t)
  const erased = await erase(t, url)
  assert.deepEqual(
    [erased.code, erased.out, erased.err],
    [0, 'operator: erased the texts of 3 messages in 2 requests, and 1 notification in the inbox.\n', ''],
  )
  const again = await erase(t, url, ['--json'])
  assert.deepEqual(JSON.parse(again.out), { side: 'operator', messages: 3, requests: 2, notifications: 0 })
})

test('bellwire erase at a platform exits with 1 while messages wait, and with 0 after they are sent', async (t) => {
  const { url, open } = await startPlatformWithTexts(t)
  const first = await erase(t, url)
  assert.deepEqual(
    [first.code, first.out],
    [
      1,
      'platform: erased the texts of 2 messages. The 1 failed message among them can no longer be replayed. Not erased: 1 message waiting to be sent. Repeat the command when none is waiting.\n',
    ],
    first.err,
  )
  await open()
  const second = await erase(t, url, ['--json'])
  assert.deepEqual(
    [second.code, JSON.parse(second.out)],
    [0, { side: 'platform', messages: 3, failed: 1, waiting: 0, requests: 0, notifications: 0 }],
  )
})

test('without --url, bellwire erase calls each side of the configuration', async (t) => {
  const operator = new URL(await startOperatorWithTexts(t))
  const platform = new URL((await startPlatformWithTexts(t)).url)
  const file = join(await temporary(t), 'bellwire.yaml')
  const key = JSON.stringify({ name: 'staff', key: adminKey.key, scopes: ['people'] })
  await writeFile(
    file,
    `operator:
  port: ${operator.port}
  keys: [{name: platform, key: a-key-of-the-platform-1, brands: [1]}]
  admin_keys: [${key}]
  suppression: none
  site: {provider: inbox}
platform:
  port: ${platform.port}
  keys: [${key}]
  lanes: [{brand: 1, channel: push, mode: batch, to: {provider: operator-api, url: http://127.0.0.1:1, api_key: a-key-of-the-platform-1}}]
accept_risks: [shared_keys]
`,
  )
  const both = await run(t, ['erase', '--brand', '1', '--user', 'mary', '--config', file])
  assert.equal(both.code, 1, both.err)
  assert.match(
    both.out,
    /^operator: erased the texts of 3 messages .*\nplatform: erased the texts of 2 messages\. .*\n$/,
  )
})

test('bellwire erase that cannot run names the remedy', async (t) => {
  const { url } = await startOperator(t)
  for (const [args, env, code, error] of [
    [['--url', url], {}, 2, /--url needs a key: give BELLWIRE_KEY or --key-file/],
    [['--url', url], { BELLWIRE_KEY: 'nobody' }, 2, /answers 401: .*with BELLWIRE_KEY or --key-file/],
    [['--url', `${url}/else`], { BELLWIRE_KEY: adminKey.key }, 2, /address of \/admin of an operator or a platform/],
    [
      ['--url', 'http://127.0.0.1:1', '--patience', '1ms'],
      { BELLWIRE_KEY: 'k' },
      3,
      /Check that the server is running/,
    ],
    [['--url', url, '--brand', '9'], { BELLWIRE_KEY: adminKey.key }, 2, /the operator has no such brand/],
  ] as const) {
    const refused = await run(t, ['erase', '--brand', '1', '--user', 'mary', ...args], env)
    assert.equal(refused.code, code, refused.err)
    assert.match(refused.err, error)
  }
})
