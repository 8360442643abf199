// What a person does in the console, without JavaScript: each act asks with its count, and the routes of /admin carry it out.

import assert from 'node:assert/strict'
import test from 'node:test'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { freePort } from '../support/free-port.ts'
import { adminKey, element, get, keys, post, startOperator, startPlatform } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { anna, sidesAtWork } from './at-work.ts'
import { type Looked, signedIn } from './browse.ts'

const laneOf = async (url: string, name: string) =>
  (await get(`${url}/admin/lanes`)).body.lanes.find((each: { name: string }) => each.name === name)

/** The reasons of the latest decisions in the audit trail, the newest first. */
async function reasonsOf(url: string, count: number): Promise<readonly (readonly string[])[]> {
  const { entries } = (await get(`${url}/admin/audit`)).body
  const acts = entries.filter(
    ({ act, by, given }: { act: string; by: string; given?: { preview?: boolean } }) =>
      by === 'anna' && !given?.preview && /^(lanes|failed\.(dismiss|replay))/.test(act),
  )
  return acts.slice(0, count).map(({ act, reason }: { act: string; reason: string }) => [act, reason])
}

/** The address of the first link or button with this text. */
function addressOf({ html }: Looked, says: string): string {
  const found = html.match(new RegExp(`(?:href|formaction)="([^"]*)"[^>]*>(?:<bdi>)?${says}<`))
  assert.ok(found, `the page offers ${says}`)
  return (found[1] as string).replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
}

test('a lane is paused with its reason, which names the person, and is resumed', async (t) => {
  const { platform } = await sidesAtWork(t)
  const browser = await signedIn(platform, anna.key)
  const lane = await browser.look('/console/lane?name=1/push')
  const asked = await browser.look(addressOf(lane, 'Pause'))
  assert.match(asked.text, /0 messages wait in lane 1\/push\. Running calls end/)
  const byLink = await browser.look('/console/lanes/pause?lane=1/push&csrf=of-a-link')
  assert.doesNotMatch(byLink.html, /value="of-a-link"/, 'a link cannot choose the token of the form')
  const form = `${platform}/console/lanes/pause?lane=1/push`
  const untried = await browser.look('/console/lanes/try?lane=1/push')
  assert.match(untried.text, /Lane 1\/push is not held\. Back/, 'nothing is asked that would change nothing')
  assert.match(untried.html, /data-letter="l" aria-current/, 'a question belongs to a page of the navigation')
  const refused = await browser.send('/console/lanes/pause', { lane: '1/push' }, { referer: form })
  assert.equal(refused.status, 400)
  assert.match(refused.text, /Reason is/)
  assert.equal(addressOf(refused, 'Back'), form, 'the way back to the form')
  const again = await browser.send(
    '/console/lanes/pause?lane=1/push',
    { lane: '1/push', reason: 'the <text> is wrong', activity: 'x'.repeat(300), for_seconds: '3600' },
    { referer: form },
  )
  assert.equal(again.status, 400)
  assert.match(
    again.text,
    /activity.*0 messages wait in lane 1\/push\. Running calls end/i,
    'the refusal, and the form',
  )
  assert.match(again.html, /<textarea name="reason"[^>]*>the &#60;text&#62; is wrong<\/textarea>/)
  assert.match(again.html, /name="activity" value="x{300}"/, 'the same form would not pause the whole lane')
  assert.match(again.html, /value="3600" selected/)
  assert.match(again.html, /action="\/console\/lanes\/pause\?lane&#61;1/, 'a second refusal shows it again')
  const unknown = await browser.send('/console/lanes/pause?lane=9/push', { lane: '9/push', reason: 'a typing error' })
  assert.equal(unknown.status, 404)
  assert.match(unknown.text, /Your reason was: a typing error/, 'where no form can be shown')
  const elsewhere = await browser.send('/console/lanes/pause', {}, { referer: 'https://evil.example/console/lanes' })
  assert.doesNotMatch(elsewhere.html, /evil/)
  const paused = await browser.send('/console/lanes/pause', { lane: '1/push', reason: 'the text is wrong' })
  assert.equal(paused.status, 200)
  assert.match(paused.text, /Paused\. 0 messages are held back now\..*Resume Pause Change settings/)
  assert.partialDeepStrictEqual((await laneOf(platform, '1/push')).pauses, [
    { by: 'anna', reason: 'the text is wrong', scope: 'lane' },
  ])
  const resumed = await browser.look(addressOf(paused, 'Resume'))
  assert.match(resumed.text, /The pause of lane 1\/push ends/)
  assert.match(
    (await browser.send('/console/lanes/resume', { lane: '1/push', reason: 'corrected' })).text,
    /1 pause ended/,
  )
  assert.deepEqual((await laneOf(platform, '1/push')).pauses, [])
  assert.deepEqual(await reasonsOf(platform, 2), [
    ['lanes.resume', 'corrected'],
    ['lanes.pause', 'the text is wrong'],
  ])
})

test('a held lane is tried at once, its settings are changed and reset, and its messages are cancelled after a count', async (t) => {
  const { platform } = await sidesAtWork(t)
  const browser = await signedIn(platform, anna.key)
  const lane = await browser.look('/console/lane?name=2/push')
  assert.match(lane.text, /held for .*ECONNREFUSED.*next try/)
  assert.match((await browser.look(addressOf(lane, 'Try now'))).text, /sends its next message now/)
  assert.match(
    (await browser.send('/console/lanes/try', { lane: '2/push', reason: 'they are back' })).text,
    /tries its next message now/,
  )

  const empty = await browser.send('/console/lanes/change', { lane: '2/push', reason: 'slower' })
  assert.match(empty.text, /Every setting is empty: fill in at least one\./)
  const tooFew = { lane: '2/push', mode: 'batch', max: '0', per_second: '10', reason: 'slower' }
  const { html: refused } = await browser.send('/console/lanes/change?lane=2/push', tooFew)
  assert.match(
    refused,
    /value="batch" selected.*name="max" value="0".*name="per_second" value="10"/s,
    'the typed values',
  )
  const changed = { lane: '2/push', concurrency: '2', reason: 'slower', for_seconds: '3600' }
  assert.match((await browser.send('/console/lanes/change', changed)).text, /1 setting changed/)
  const { concurrency } = (await laneOf(platform, '2/push')).settings
  assert.partialDeepStrictEqual(concurrency, { value: 2, override: { by: 'anna', reason: 'slower' } })
  assert.match(
    (await browser.send('/console/lanes/reset', { lane: '2/push', reason: 'fast again' })).text,
    /1 setting returned/,
  )

  const unasked = await browser.send('/console/lanes/cancel', { lane: '2/push', reason: 'all?' })
  assert.equal(unasked.status, 400, 'nothing is selected')
  const asked = await browser.look('/console/lanes/cancel?lane=2/push&user=1002')
  assert.match(asked.text, /1 message of lane 2\/push will be cancelled/)
  await browser.send('/console/lanes/cancel', { lane: '2/push', user: '1002', reason: 'sent by hand' })
  await until(async () => (await laneOf(platform, '2/push')).waiting === 1, { awaited: 'one message is cancelled' })
  assert.match((await browser.look('/console/lane?name=2/push')).text, /anna user 1002: sent by hand 1/)
  assert.deepEqual(await reasonsOf(platform, 4), [
    ['lanes.cancel', 'sent by hand'],
    ['lanes.reset', 'fast again'],
    ['lanes.change', 'slower'],
    ['lanes.resume', 'they are back'],
  ])
})

test('50 of 200 Failed Actions are replayed by a filter, and selected ones are dismissed', async (t) => {
  const { platform } = await sidesAtWork(t, { refused: 0 })
  const refused = (count: number, activity: number) =>
    Array.from({ length: count }, (_, i) => element({ user_id: `14${i}`, activity_id: activity }))
  await post(`${platform}/admin/activities/site`, [...refused(50, 20), ...refused(150, 21)], adminKey.key)
  const pending = async () => {
    const { groups } = (await get(`${platform}/admin/failed/summary?lane=1/site`)).body
    return Object.fromEntries(
      groups.map((group: { activity: string; pending: number }) => [group.activity, group.pending]),
    )
  }
  await until(async () => (await pending())[20] === 50 && (await pending())[21] === 150, { awaited: 'all have failed' })
  // Paused, so that the replayed messages stay.
  await post(`${platform}/admin/lanes/pause`, { lane: '1/site', reason: 'test' }, adminKey.key)
  const browser = await signedIn(platform, anna.key)
  const filtered = await browser.look('/console/failed?lane=1/site&activity=20')
  assert.match(filtered.text, /50 items wait for a decision\. Lane/)
  const ofUser = await browser.look('/console/failed?lane=1/site&activity=20&user=140')
  assert.match(ofUser.text, /Failed Actions The items that match\./)
  assert.doesNotMatch(ofUser.text, /50 items wait|Pending Dismissed/, 'the counts are of all users')
  const asked = await browser.look(addressOf(filtered, 'Replay all that match'))
  assert.match(asked.text, /50 items will be sent again/)
  const unexplained = await browser.send('/console/failed/replay', { lane: '1/site', activity: '20' })
  assert.equal(unexplained.status, 400, 'an act of the console needs a reason')
  const done = await browser.send('/console/failed/replay', {
    lane: '1/site',
    activity: '20',
    per_second: '10',
    note: 'corrected',
  })
  assert.match(done.text, /50 items replayed/)
  assert.partialDeepStrictEqual(await pending(), { 20: 0, 21: 150 })

  const list = await browser.look('/console/failed?lane=1/site&activity=21')
  const [first, second, third] = [...list.html.matchAll(/name="seq" value="(\d+)"/g)].map((match) => match[1])
  const hidden = [...list.html.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)].slice(1)
  const filter = Object.fromEntries(hidden.map(([, name, value]) => [name, value])) as Record<string, string>
  const dismiss = `/console/failed/dismiss?${new URLSearchParams(filter)}`
  const none = await browser.look(dismiss)
  assert.match(none.text, /Nothing is selected/, 'the filter of the page selects nothing')
  assert.equal((await browser.send('/console/failed/dismiss', { ...filter, note: 'all?' })).status, 400)
  assert.match((await browser.look(`${dismiss}&seq=${first}&seq=${second}`)).text, /2 items will be dismissed/)
  const dismissed = await browser.send('/console/failed/dismiss', {
    ...filter,
    seq: `${first},${second}`,
    note: 'too late',
  })
  assert.match(dismissed.text, /2 items dismissed/)
  assert.match(dismissed.path, /lane=1%2Fsite&activity=21/, 'the filter stays')
  assert.partialDeepStrictEqual(await pending(), { 21: 148 })
  assert.deepEqual(await reasonsOf(platform, 2), [
    ['failed.dismiss', 'too late'],
    ['failed.replay', 'corrected'],
  ])
  const ofMessage = addressOf(await browser.look(`/console/message?seq=${third}`), 'Dismiss')
  const { lane = '', seq = '' } = Object.fromEntries(new URL(ofMessage, platform).searchParams)
  const shown = await browser.send('/console/failed/dismiss', { lane, seq, note: 'too late' })
  assert.match(shown.path, /message\?seq=/)
  assert.match(shown.text, /1 item dismissed.*Dismissed platform/, 'the page of the message shows the decision')
  const nothing = await browser.send('/console/failed/replay', { note: 'x' })
  assert.equal(nothing.status, 400)
  assert.match(nothing.text, /Nothing is selected/)
})

test('three looks lead from the overview to the reason why a message of user 1001 did not arrive', async (t) => {
  const sides = await sidesAtWork(t)
  for (const [side, url] of Object.entries(sides)) {
    const browser = await signedIn(url, anna.key)
    await browser.look('/console')
    const found = await browser.look('/console/messages?find=1001')
    const message = await browser.look(addressOf(found, '1001'))
    assert.match(message.text, /The other side refused this message\. gone/, side)
    assert.match(message.text, /Step by step .*failed/)
    // The answer to the batch names other messages.
    assert.doesNotMatch(message.text, /"id":1002/)
    assert.doesNotMatch(message.html, /<title>[^<]*1001/)
  }
})

test('a message is shown with the steps of both sides, on each side; a side that is away is named', async (t) => {
  const ports = [await freePort(), await freePort()] as const
  const [operatorUrl, platformUrl] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, string]
  const other = (url: string) => ({ console: { otherSide: { url, apiKey: adminKey.key } } })
  const operator = await startOperator(t, { ...other(platformUrl), listen: { port: ports[0] } })
  const provider = operatorApi({ url: operatorUrl, apiKey: keys.one.key })
  const lanes = [{ brand: '1', channel: 'push', mode: 'batch', provider, spanMs: 5 }] as const
  await startPlatform(t, { ...other(operatorUrl), lanes: lanes as never, listen: { port: ports[1] } })
  await post(`${platformUrl}/admin/activities/push`, element({ id: 77, user_id: 'mara' }), adminKey.key)
  await until(async () => (await get(`${platformUrl}/admin/summary`)).body.successful === 1, { awaited: 'it is sent' })
  const look = async (url: string) => {
    const browser = await signedIn(url, adminKey.key)
    const found = await browser.look('/console/messages?find=77')
    return (await browser.look(addressOf(found, '77'))).text
  }
  for (const url of [operatorUrl, platformUrl])
    assert.match(await look(url), /Step by step Enqueued platform.*Claimed operator.*Settled successful platform/, url)
  const { entries } = (await get(`${operatorUrl}/admin/audit?act=messages.show`)).body
  assert.ok(entries.length >= 2, 'the operator knows of the look from the platform')
  await operator.stop()
  assert.match(await look(platformUrl), /The steps of the operator are missing: .* Step by step Enqueued platform/)
})

test('a request is shown with its exact numbers, and without the tokens of devices', async (t) => {
  const { platform } = await sidesAtWork(t, { refused: 0 })
  const record = JSON.stringify(
    element(
      { id: 0, user_id: '14' },
      { data: { account: 0 }, fcm_tokens: ['a-secret-of-a-phone'], auth: 'another-secret' },
    ),
  )
  const exact = record
    .replace('"id":0', '"id":9007199254740993')
    .replace('"account":0', '"account":9223372036854775807')
  await post(`${platform}/admin/activities/site`, exact, adminKey.key)
  await until(
    async () => (await get(`${platform}/admin/messages?id=9007199254740993`)).body.messages[0]?.outcome === 'failed',
    {
      awaited: 'the message has failed',
    },
  )
  const browser = await signedIn(platform, anna.key)
  const found = await browser.look('/console/messages?find=9007199254740993')
  const { text } = await browser.look(addressOf(found, '9007199254740993'))
  assert.match(text, /"account":9223372036854775807/)
  assert.match(text, /"fcm_tokens":"\[hidden\]","auth":"\[hidden\]"/)
  assert.doesNotMatch(text, /secret-of|another-secret/)
})
