// bellwire explain: the life of a message on running sides.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { Life } from '../../src/sides/admin/message-life.ts'
import { functionSource } from '../../src/subjects/attributes/function.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import type { Message, Result } from '../../src/subjects/providers/provider.ts'
import { accepted, away, device, deviceBook, gone, witnessService } from '../support/push-services.ts'
import {
  adminKey,
  element,
  enqueueAt,
  get,
  keys,
  laneTo,
  post,
  startOperator,
  startPlatform,
  temporary,
  untilSettled,
  witness,
} from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { run } from './bellwire.ts'

const secret = 'Your new flat'

const explain = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  run(['explain', ...args], { BELLWIRE_KEY: adminKey.key, BELLWIRE_OTHER_KEY: adminKey.key, ...env })

async function lifeOf(args: readonly string[]): Promise<Life> {
  const { code, out, err } = await explain([...args, '--json'])
  assert.equal(code, 0, err)
  const { messages } = JSON.parse(out) as { messages: readonly Life[] }
  assert.equal(messages.length, 1)
  return messages[0] as Life
}

const stepsOf = ({ steps }: Life) =>
  steps.map(({ side, step, state }) => [side, step, state].filter((each) => each !== undefined).join(' '))

/** Both sides. Of the user 1001, the first push to each device is refused temporarily, and the device t-2 is gone. */
async function startBoth(t: TestContext) {
  const refusedOnce = new Set<string>()
  const service = witnessService('fcm_token', ({ device: { token, userId } }) => {
    if (userId === '1002') return accepted
    if (!refusedOnce.has(token)) {
      refusedOnce.add(token)
      return { ...away, blame: 'message', answer: 'try later' }
    }
    return token === 't-2' ? gone : accepted
  })
  const devices = deviceBook([
    device({ kind: 'fcm_token', token: 't-1' }),
    device({ kind: 'fcm_token', token: 't-2' }),
    device({ kind: 'fcm_token', token: 't-3', userId: '1002' }),
  ])
  const attributes = functionSource(['blocked', 'excluded'], () => [], 'players')
  const operator = await startOperator(t, { attributes, push: { devices: { source: devices, services: [service] } } })
  const provider = operatorApi({ url: operator.url, apiKey: keys.one.key })
  const platform = await startPlatform(t, { lanes: [laneTo(provider)] })
  await enqueueAt(platform.url, [element({ id: 7 }, { title: secret }), element({ id: 8, user_id: '1002' })])
  await untilSettled(platform.url)
  return { platform: platform.url, operator: operator.url, stopOperator: operator.stop }
}

test('the life of a message on both sides has every step in order of time, and not the text', async (t) => {
  const { platform, operator } = await startBoth(t)
  const both = ['--url', platform, '--other-url', operator]
  const life = await lifeOf(['7', ...both])
  const steps = stepsOf(life)
  assert.equal(steps[0], 'platform enqueued')
  assert.equal(steps.at(-1), 'platform settled successful')
  assert.deepEqual(steps.filter((each) => each.startsWith('operator')).toSorted(), [
    'operator attempt fatal',
    'operator claimed',
    'operator device failed',
    'operator device fatal',
    'operator device fatal',
    'operator device successful',
    'operator settled successful',
  ])
  assert.ok(steps.indexOf('operator attempt fatal') < steps.indexOf('platform attempt fatal'))
  assert.ok(steps.indexOf('platform attempt fatal') < steps.indexOf('operator settled successful'))
  const times = life.steps.map(({ at }) => at ?? Number.NaN)
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  )
  const devices = life.steps.filter(({ step }) => step === 'device')
  assert.partialDeepStrictEqual(
    devices.find(({ state }) => state === 'failed'),
    { rule: '410', error: 'gone' },
  )
  assert.partialDeepStrictEqual(
    devices.find(({ state }) => state === 'fatal'),
    { attempt: 1, answer: 'try later' },
  )
  assert.partialDeepStrictEqual(
    devices.find(({ state }) => state === 'successful'),
    { attempt: 2, provider_id: 'p-1' },
  )
  assert.match(life.steps.find(({ step, side }) => step === 'settled' && side === 'operator')?.process ?? '', /^\d+-/)
  assert.equal(life.identifiers.length, 1)
  const [{ ref = '' } = {}] = life.identifiers

  // The identifier finds the same message, in the other order of the addresses, too.
  assert.deepEqual(await lifeOf([ref, '--url', operator, '--other-url', platform]), life)
  const text = await explain([ref, ...both])
  assert.equal(text.code, 0, text.err)
  assert.match(text.out, /^Message +activity\.id 7 to user 1001, brand 1, push\nActivity +7, action 9\nIdentifier +/)
  assert.match(text.out, /\nPlatform +successful after 2 attempts, number 1 in lane 1\/push\n/)
  assert.match(
    text.out,
    /\nOperator +successful after 2 attempts\nPermission +nothing forbids it; blocked no, excluded no\n/,
  )
  assert.match(text.out, /\nChecked +in players, read at \S+Z\n\nTIME +SIDE +STEP +STATE +RULE +PROCESS +DETAILS\n/)
  assert.match(text.out, /\n\S+Z +operator +device 1 +fatal +503 +device \S+, fcm_token\n +error: away\n/)
  for (const out of [text.out, JSON.stringify(life)]) assert.ok(!out.includes(secret))
})

test('push sends one message through both sides and shows its life; an absent brand or a refusal is explained', async (t) => {
  const { platform, operator } = await startBoth(t)
  const keysOfBoth = { BELLWIRE_KEY: adminKey.key, BELLWIRE_OTHER_KEY: adminKey.key }
  const both = ['push', '--url', platform, '--other-url', operator, '--title', secret]
  const sent = await run([...both, '--user', '1002'], keysOfBoth)
  assert.equal(sent.code, 0, sent.err)
  assert.match(sent.out, /^Message +activity\.id \d{16} to user 1002, brand 1, push\n/)
  assert.match(sent.out, /\nOperator +successful after 1 attempt\n/)
  const failed = await run([...both, '--user', '1003'], keysOfBoth)
  assert.equal(failed.code, 1)
  assert.match(failed.out, /\nPlatform +failed/)
  const site = await run([...both, '--user', '1002', '--channel', 'site'], keysOfBoth)
  assert.deepEqual(site, {
    code: 2,
    out: '',
    err: 'bellwire: the platform has no lane of the channel site\n',
  })
})

test('a message that only the operator knows by its identifier is also found on the platform', async (t) => {
  const push = witness(({ id, ref }) =>
    id === '7'
      ? { category: 'fatal', reason: 'unavailable', blame: 'message', error: 'merging', rule: 'busy' }
      : { category: 'successful', ref, rule: 'accepted' },
  )
  const operator = await startOperator(t, { push })
  const provider = operatorApi({ url: operator.url, apiKey: keys.one.key })
  const retry = { firstMs: 600_000, mostMs: 600_000 }
  const { url } = await startPlatform(t, { lanes: [laneTo(provider, { retry })] })
  await enqueueAt(url, [element({ id: 7 }), element({ id: 8 })])
  await until(async () => (await get(`${url}/admin/summary`)).body.successful === 1, {
    awaited: 'the batch is answered',
  })
  const { messages } = (await get(`${operator.url}/admin/messages?id=7`)).body
  const life = await lifeOf([messages[0].ref, '--url', url, '--other-url', operator.url])
  assert.deepEqual([life.platform?.outcome, life.operator?.outcome], ['waiting', 'fatal'])
  assert.partialDeepStrictEqual(life.steps.at(-1), { step: 'waits', error: 'merging' })
  // The refusal and the message name the same call.
  assert.equal(stepsOf(life).filter((each) => each === 'operator call').length, 1)
})

test('one side alone shows its part, and says how to ask the other side', async (t) => {
  const { platform, operator, stopOperator } = await startBoth(t)
  const atPlatform = await explain(['7', '--url', platform])
  assert.match(atPlatform.out, /\nOperator +was not asked: give --other-url and BELLWIRE_OTHER_KEY\n/)
  assert.ok(!/ operator /.test(atPlatform.out.split('TIME')[1] as string))
  const atOperator = await explain(['1001', '--by', 'user', '--brand', '1', '--url', operator])
  assert.match(atOperator.out, /\nPlatform +was not asked.*\nOperator +successful after 2 attempts\n/)
  // The message stays visible if the other side is down.
  await stopOperator()
  const alone = await explain(['7', '--url', platform, '--other-url', operator, '--patience', '1ms'])
  assert.equal(alone.code, 3)
  assert.match(alone.out, /\nPlatform +successful .*\nOperator +was not reached\n/)
  assert.match(alone.err, /a side is left out: http\S+ has not answered/)
})

const refuseFirst = (): ((message: Message) => Result) => {
  const seen = new Set<string>()
  return ({ id }) => {
    const again = seen.has(id)
    seen.add(id)
    if (again) return { category: 'successful', ref: `second-${id}`, rule: 'accepted' }
    return { category: 'failed', reason: 'rejected', error: 'no', rule: '§7.1 422', status: 422, ref: `first-${id}` }
  }
}

test('a replayed message is found by its old and new identifier, with the replay; a dismissed one with who did it', async (t) => {
  const { url } = await startPlatform(t, { lanes: [laneTo(witness(refuseFirst()))] })
  await enqueueAt(url, [element({ id: 1 }), element({ id: 2 })])
  await untilSettled(url)
  await post(`${url}/admin/failed/replay`, { seqs: [1] }, adminKey.key)
  await post(`${url}/admin/failed/dismiss`, { seqs: [2] }, adminKey.key)
  await untilSettled(url)
  const life = await lifeOf(['first-1', '--url', url])
  assert.deepEqual(stepsOf(life), [
    'platform enqueued',
    'platform call',
    'platform attempt failed',
    'platform replayed',
    'platform call',
    'platform settled successful',
  ])
  assert.deepEqual(
    life.identifiers.map(({ ref, replayed_at: at }) => [ref, at === null]),
    [
      ['first-1', false],
      ['second-1', true],
    ],
  )
  assert.partialDeepStrictEqual(life.steps[3], { by: 'admin', ref: 'first-1' })
  assert.partialDeepStrictEqual(life.steps[2], { status: 422, rule: '§7.1 422', reason: 'rejected' })
  assert.deepEqual(await lifeOf(['second-1', '--url', url]), life)
  const { out } = await explain(['first-1', '--url', url])
  assert.match(out, /\nIdentifier +first-1 \(until the replay at \S+Z\)\nIdentifier +second-1\n/)
  assert.match(out, /\nPlatform +successful after 1 attempt, .*, replayed once\n/)
  const dismissed = await explain(['2', '--url', url])
  assert.match(dismissed.out, /\nPlatform +failed after 1 attempt, .*, dismissed in Failed Actions\n/)
  assert.match(dismissed.out, / attempt 1 +failed +§7\.1 422 +rejected, HTTP status 422, call .*\n +error: no\n/)
  assert.match(dismissed.out, / dismissed +by admin\n$/)
})

test('a message that waits shows the pause that holds it back; a cancelled and an expired one show why', async (t) => {
  const { url } = await startPlatform(t, { lanes: [laneTo(witness())] })
  const pause = (activity: string) =>
    post(`${url}/admin/lanes/pause`, { lane: '1/push', activity, reason: `the text of ${activity}` }, adminKey.key)
  await Promise.all([pause('7'), pause('70')])
  const past = { expires_at: new Date(Date.now() - 1_000).toISOString() }
  const records = [element({ id: 1 }), element({ id: 2 }), element({ id: 3, activity_id: 5 }, past)]
  await enqueueAt(url, records)
  const cancel = { lane: '1/push', user: '1001', activity: '7', reason: 'wrong price', id: 'x' }
  const waiting = await explain(['2', '--url', url])
  assert.equal(waiting.code, 0, waiting.err)
  assert.match(waiting.out, /\nPlatform +waiting, number 2 in lane 1\/push\n/)
  assert.match(
    waiting.out,
    /\nnow +platform +waits +paused .*\n +activity 7 of the lane is paused, .*: the text of 7\n$/,
  )
  await post(`${url}/admin/lanes/cancel`, cancel, adminKey.key)
  await untilSettled(url)
  const cancelled = await explain(['1', '--url', url])
  assert.match(cancelled.out, / failed .*cancelled\n +error: cancelled by admin: wrong price\n$/)
  const expired = await lifeOf(['3', '--url', url])
  assert.deepEqual(stepsOf(expired), ['platform enqueued', 'platform attempt failed'])
  assert.equal(expired.steps[1]?.reason, 'expired')
  assert.equal(expired.steps[0]?.expires_at, Date.parse(past.expires_at))
})

test('several messages of a user are listed, the newest first, with the count and how to narrow', async (t) => {
  const { url } = await startPlatform(t, { lanes: [laneTo(witness())] })
  for (let id = 100; id < 105; id++) await enqueueAt(url, element({ id, user_id: 'mary' }, { title: secret }))
  await untilSettled(url)
  const { code, out, err } = await explain(['mary', '--brand', '1', '--limit', '2', '--url', url])
  assert.equal(code, 0, err)
  assert.match(
    out,
    /^TIME +BRAND +CHANNEL +ACTIVITY\.ID .*\n\S+Z +1 +push +104 +7 +9 +\S+ +successful +–\n\S+Z +1 +push +103 .*\nThe newest 2 of 5 messages\. For the life of one, give its IDENTIFIER or its ACTIVITY\.ID; for more lines, --limit\n$/,
  )
  const json = await explain(['mary', '--brand', '1', '--url', url, '--json'])
  const { total, more, found } = JSON.parse(json.out)
  assert.deepEqual([total, more, found.length], [5, false, 5])
  assert.ok(!json.out.includes(secret))
})

test('without --url, bellwire explain asks each side of the configuration', async (t) => {
  const { platform, operator } = await startBoth(t)
  const file = join(await temporary(t), 'bellwire.yaml')
  const key = JSON.stringify({ name: 'staff', key: adminKey.key, scopes: ['counts', 'read'] })
  await writeFile(
    file,
    `operator:
  port: ${new URL(operator).port}
  keys: [{name: platform, key: a-key-of-the-platform-1, brands: [1]}]
  admin_keys: [${key}]
  suppression: none
  site: {provider: inbox}
platform:
  port: ${new URL(platform).port}
  keys: [${key}]
  lanes: [{brand: 1, channel: push, mode: batch, to: {provider: operator-api, url: http://127.0.0.1:1, api_key: a-key-of-the-platform-1}}]
accept_risks: [shared_keys]
`,
  )
  const { code, out, err } = await run(['explain', '7', '--config', file])
  assert.equal(code, 0, err)
  assert.match(out, /\nPlatform +successful .*\nOperator +successful /)
})

test('a search that finds nothing, and a command that cannot run, name the remedy', async (t) => {
  const { platform, operator } = await startBoth(t)
  const at = ['--url', platform]
  for (const [args, env, code, error] of [
    [['none', ...at], {}, 1, /the platform has no message with the identifier or activity\.id none\. /],
    [
      ['none', ...at],
      {},
      1,
      /the setting keep .*; for a user_id, add --brand; the operator was not asked: .*--other-url/,
    ],
    [['none', ...at, '--other-url', operator], {}, 1, /^bellwire: the \w+ and the \w+ have no message/],
    [['none', ...at, '--brand', '2'], {}, 1, /or user_id \(brand 2\) none/],
    [['7', ...at, '--by', 'user'], {}, 2, /--by user needs the brand: add --brand/],
    [['7', ...at, '--limit', '0'], {}, 2, /Give a whole number from 1 to 1000/],
    [['7', ...at, '--other-url', platform], {}, 2, /two addresses are of a platform: leave one out/],
    [['7', ...at, '--other-url', operator], { BELLWIRE_OTHER_KEY: undefined }, 2, /--other-url needs a key/],
    [['7', ...at], { BELLWIRE_KEY: 'nobody' }, 2, /answers 401: .*scopes counts and read/],
    [['7', '--url', 'http://127.0.0.1:1', '--patience', '1ms'], {}, 3, /Check that the server is running/],
  ] as const) {
    const refused = await explain(args, env)
    assert.equal(refused.code, code, `${args.join(' ')}: ${refused.err}`)
    assert.match(refused.err, error)
    assert.equal(refused.out, '')
  }
})
