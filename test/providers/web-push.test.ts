// The requirements for every push service, and each row of the answers table, with the stand-in.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import test from 'node:test'
import type { DeviceAnswer } from '../../src/subjects/providers/push-service.ts'
import { mostPayloadBytes, payloadOf } from '../../src/subjects/providers/web-push/payload.ts'
import { makeVapidKeys } from '../../src/subjects/providers/web-push/vapid.ts'
import { webPush } from '../../src/subjects/providers/web-push/web-push.ts'
import { pushServiceSuite, pushTo } from '../suites/push-service.ts'
import { contextOf } from '../support/context.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { deviceOf, startHolding, startWebPush, subject, webPushStage } from './web-push/fixture.ts'
import { webPushRows } from './web-push-rows.ts'

pushServiceSuite({
  name: 'web-push',
  variant: 'HTTP/1.1',
  rows: webPushRows,
  start: (t) => webPushStage(t),
})

const errorOf = (answer: DeviceAnswer): string => (answer.category === 'successful' ? '' : answer.error)

test('a message arrives encrypted, is decrypted by the device and shown', async (t) => {
  const { standIn, service, device } = await startWebPush(t)
  const to = device()
  const content = {
    title: 'Grüße',
    body: 'Da ist etwas für dich 🎁',
    image_url: 'https://img.example/x.png',
    url: 'https://www.example/offers',
    data: '{"n":9007199254740993,"text":"x","o":{"k":[1]}}',
    overrides: { 'web-push': { urgency: 'high' } },
  }
  const push = pushTo(to, { content })
  const answer = await service.send(push, contextOf())
  assert.partialDeepStrictEqual(answer, { category: 'successful', ref: push.ref, rule: 'web-push 201' })
  assert.match(answer.providerId ?? '', /^https:\/\/fcm\.googleapis\.com\/m\//)

  const [shown] = standIn.shown(to.token)
  assert.partialDeepStrictEqual(shown, {
    title: content.title,
    body: content.body,
    image: content.image_url,
    url: content.url,
    tag: push.ref,
    replaced: 0,
  })
  const [arrival] = standIn.arrivals
  assert.equal(
    arrival?.body,
    `{"push_id":"${push.ref}","title":"Grüße","body":"Da ist etwas für dich 🎁","image":"https://img.example/x.png","url":"https://www.example/offers","data":${content.data}}`,
  )
  assert.partialDeepStrictEqual(arrival?.headers, { urgency: 'high', topic: push.ref.replaceAll('-', '') })
  const ttl = Number(arrival?.headers.ttl)
  assert.ok(ttl > 3_590 && ttl <= 3_600, `ttl ${ttl}`)
})

test('the service reaches subscriptions of browsers, and only of its apps if they are configured', () => {
  const keys = makeVapidKeys()
  const all = webPush({ ...keys, subject })
  const some = webPush({ ...keys, subject, name: 'shop', apps: ['shop.example'] })
  assert.deepEqual([all.name, some.name], ['web-push', 'shop'])
  assert.equal(all.reaches(deviceOf('{}')), true)
  assert.equal(all.reaches(deviceOf('{}', { kind: 'fcm_token' })), false)
  assert.equal(some.reaches(deviceOf('{}')), false)
  assert.equal(some.reaches(deviceOf('{}', { app: 'shop.example' })), true)
  assert.equal(some.reaches(deviceOf('{}', { app: 'news.example' })), false)
})

test('over HTTP/1.1 a connection that ends may have lost an answer, which concerns its vendor only', async (t) => {
  const { standIn, service, device } = await startWebPush(t)
  for (const reset of ['before', 'after'] as const) {
    standIn.play({ reset, times: 1 })
    assert.partialDeepStrictEqual(await service.send(pushTo(device()), contextOf()), {
      category: 'fatal',
      reason: 'unavailable',
      blame: 'provider',
      concerns: 'counterpart',
      uncertain: true,
    })
  }
})

test('a key other than that of the subscription is a misconfiguration, until the credential is proven', async (t) => {
  const { standIn, service } = await startWebPush(t)
  const theirs = standIn.subscribe({ applicationServerKey: makeVapidKeys().publicKey })
  assert.partialDeepStrictEqual(await service.send(pushTo(deviceOf(theirs)), contextOf()), {
    category: 'fatal',
    reason: 'misconfigured',
    blame: 'provider',
    token: 'mismatch',
    rule: 'web-push 403',
  })
})

test('a subscription that no longer exists is gone', async (t) => {
  const { standIn, service, device } = await startWebPush(t)
  const to = device()
  standIn.forget(to.token)
  assert.partialDeepStrictEqual(await service.send(pushTo(to), contextOf()), { category: 'failed', token: 'gone' })
})

test('if no server listens, the message has certainly not arrived', async (t) => {
  const { standIn, service, device } = await startWebPush(t)
  const to = device()
  await standIn.close()
  const answer = await service.send(pushTo(to), contextOf())
  assert.partialDeepStrictEqual(answer, { category: 'fatal', reason: 'unavailable', rule: 'web-push no connection' })
  assert.ok(!('uncertain' in answer))
})

test('after the deadline, or while the process is stopping, nothing is sent', async (t) => {
  const { standIn, service, device } = await startWebPush(t)
  // A request on an open connection would be written at once.
  await service.send(pushTo(device()), contextOf())
  const late = await service.send(pushTo(device()), contextOf(-1))
  assert.partialDeepStrictEqual(late, { category: 'fatal', reason: 'timeout' })
  assert.ok(!('uncertain' in late))
  const stopped = await service.send(pushTo(device()), contextOf(10_000, AbortSignal.abort()))
  assert.partialDeepStrictEqual(stopped, { category: 'fatal', reason: 'stopping', blame: 'provider' })
  assert.equal(standIn.arrivals.length, 1)
})

test('close() waits for sends in flight and refuses new ones', async (t) => {
  const holding = await startHolding(t)
  const { service, device } = await startWebPush(t, { origins: { 'https://fcm.googleapis.com': holding.url } })
  const sending = service.send(pushTo(device()), contextOf())
  await holding.come
  const closing = service.close?.()
  holding.answer()
  await closing
  assert.equal((await sending).category, 'successful')
  assert.partialDeepStrictEqual(await service.send(pushTo(device()), contextOf()), {
    category: 'fatal',
    reason: 'stopping',
  })
})

test('a message that is too large for a browser fails before it is sent, and the largest arrives', async (t) => {
  const { standIn, service, device } = await startWebPush(t)
  const push = pushTo(device())
  const around = payloadOf(push.ref, { body: '' }).length
  const largest = { ...push, content: { body: 'x'.repeat(mostPayloadBytes - around) } }
  assert.equal((await service.send(largest, contextOf())).category, 'successful')
  assert.equal(standIn.arrivals[0]?.headers['content-length'], '4096')
  const tooLarge = { ...push, content: { body: 'x'.repeat(mostPayloadBytes - around + 1) } }
  const answer = await service.send(tooLarge, contextOf())
  assert.partialDeepStrictEqual(answer, { category: 'failed', reason: 'too_large' })
  assert.match(errorOf(answer), /has 3994 bytes, and the maximum is 3993/)
  assert.equal(standIn.arrivals.length, 1)
})

test('an expired subscription fails as gone, and nothing is sent to it', async (t) => {
  const { standIn, service, keys } = await startWebPush(t)
  const subscribe = (expirationTime: number) =>
    deviceOf(standIn.subscribe({ applicationServerKey: keys.publicKey, expirationTime }))
  const past = await service.send(pushTo(subscribe(Date.now() - 1)), contextOf())
  assert.partialDeepStrictEqual(past, { category: 'failed', reason: 'rejected', token: 'gone' })
  assert.deepEqual(standIn.arrivals, [])
  const ahead = await service.send(pushTo(subscribe(Date.now() + 60_000)), contextOf())
  assert.equal(ahead.category, 'successful')
})

test('an unknown urgency fails with the list of valid ones', async (t) => {
  const { service, device } = await startWebPush(t)
  const content = { overrides: { 'web-push': { urgency: 'urgent' } } }
  const answer = await service.send(pushTo(device(), { content }), contextOf())
  assert.partialDeepStrictEqual(answer, { category: 'failed', reason: 'invalid' })
  assert.match(errorOf(answer), /very-low, low, normal or high/)
})

test('any token that is not a subscription fails as a mismatch, without an exception', async (t) => {
  const { standIn, service, device } = await startWebPush(t)
  const good = JSON.parse(device().token) as { endpoint: string; keys: { p256dh: string; auth: string } }
  const offCurve = Buffer.from(good.keys.p256dh, 'base64url')
  offCurve[40] = (offCurve[40] as number) ^ 1
  const compressed = Buffer.concat([Buffer.from([2]), Buffer.from(good.keys.p256dh, 'base64url').subarray(1, 33)])
  const tokens = [
    '',
    'not JSON',
    'null',
    '[]',
    '"text"',
    '7',
    '{}',
    '['.repeat(5_000),
    JSON.stringify({ ...good, endpoint: 5 }),
    JSON.stringify({ ...good, endpoint: 'no address' }),
    JSON.stringify({ endpoint: good.endpoint }),
    JSON.stringify({ ...good, keys: null }),
    JSON.stringify({ ...good, keys: { auth: good.keys.auth } }),
    JSON.stringify({ ...good, keys: { p256dh: good.keys.p256dh } }),
    JSON.stringify({ ...good, keys: { ...good.keys, auth: 'c2hvcnQ' } }),
    JSON.stringify({ ...good, keys: { ...good.keys, auth: good.keys.p256dh } }),
    JSON.stringify({ ...good, keys: { ...good.keys, p256dh: good.keys.auth } }),
    JSON.stringify({ ...good, keys: { ...good.keys, p256dh: 'not base64 !' } }),
    JSON.stringify({ ...good, keys: { ...good.keys, p256dh: offCurve.toString('base64url') } }),
    JSON.stringify({ ...good, keys: { ...good.keys, p256dh: compressed.toString('base64url') } }),
    JSON.stringify({ ...good, endpoint: `${good.endpoint}${'x'.repeat(9_000)}` }),
  ]
  for (const token of tokens) {
    const answer = await service.send(pushTo(deviceOf(token)), contextOf())
    assert.partialDeepStrictEqual(answer, { category: 'failed', token: 'mismatch' }, token.slice(0, 200))
    assert.match(errorOf(answer), /is not a PushSubscription: .*; link the browser.s JSON.stringify\(subscription\)/)
  }
  assert.deepEqual(standIn.arrivals, [])
})

test('keys in base64 with padding are accepted too', async (t) => {
  const { standIn, service, device } = await startWebPush(t)
  const { token } = device()
  const parsed = JSON.parse(token) as { endpoint: string; keys: { p256dh: string; auth: string } }
  const other = (text: string): string => Buffer.from(text, 'base64url').toString('base64')
  const keys = { p256dh: other(parsed.keys.p256dh), auth: other(parsed.keys.auth) }
  const answer = await service.send(pushTo(deviceOf(JSON.stringify({ ...parsed, keys }))), contextOf())
  assert.equal(answer.category, 'successful')
  assert.equal(standIn.shown(token).length, 1)
})

test('no outcome contains parts of the token or of the private key, even if the push service repeats them', async (t) => {
  const { standIn, service, device, keys } = await startWebPush(t)
  const to = device()
  const { endpoint, keys: theirs } = JSON.parse(to.token) as { endpoint: string; keys: Record<string, string> }
  const path = new URL(endpoint).pathname
  const canaries = [path.split('/').at(-1) as string, ...Object.values(theirs), keys.privateKey]
  const body = `no ${to.token} at ${endpoint} (${encodeURIComponent(endpoint)}), ${path}: ${JSON.stringify(to.token)}`
  const answers: DeviceAnswer[] = []
  for (const status of [201, 301, 400, 401, 403, 404, 410, 413, 418, 429, 500, 503]) {
    const stop = standIn.play({ answer: { status, headers: { location: endpoint }, body } })
    answers.push(await service.send(pushTo(to), contextOf()))
    stop()
  }
  for (const reset of ['before', 'after'] as const) {
    const stop = standIn.play({ reset })
    answers.push(await service.send(pushTo(to), contextOf()))
    stop()
  }
  const spoiled = [
    { ...theirs, auth: 'x' },
    { ...theirs, p256dh: 'x' },
  ].map((wrong) => JSON.stringify({ endpoint, keys: wrong }))
  const elsewhere = to.token.replace('https://fcm.googleapis.com', 'https://push.evil.example')
  for (const token of [...spoiled, elsewhere, to.token.slice(0, -1)])
    answers.push(await service.send(pushTo(deviceOf(token)), contextOf()))
  const text = JSON.stringify(answers)
  for (const canary of canaries) assert.ok(!text.includes(canary), `${canary} in ${text}`)
  assert.match(text, /\[redacted\]/)
})

test('a redirect is not followed', async (t) => {
  let reached = 0
  const inside = createServer((_request, response) => {
    reached++
    response.writeHead(201).end()
  })
  const { url } = await listenLocally(t, inside)
  const location = `${url}/latest/meta-data/`
  const { standIn, service, device } = await startWebPush(t)
  for (const status of [301, 302, 303, 307, 308]) {
    const stop = standIn.play({ answer: { status, headers: { location } } })
    const answer = await service.send(pushTo(device()), contextOf())
    stop()
    assert.partialDeepStrictEqual(answer, { category: 'fatal', rule: `web-push ${status}` })
    assert.match(errorOf(answer), /a redirect, which is never followed/)
  }
  assert.equal(reached, 0)
})

test('the query of an endpoint is kept, because Windows has the token there', async (t) => {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(request.url ?? '')
    request.resume().on('end', () => response.writeHead(201).end())
  })
  const { url: address } = await listenLocally(t, server)
  const origin = 'https://wns2-par02p.notify.windows.com'
  const { service, device } = await startWebPush(t, { origins: { [origin]: address } })
  const token = device().token.replace(/https:[^"]+/, `${origin}/w/?token=BQYA%2bA%3d%3d`)
  assert.equal((await service.send(pushTo(deviceOf(token)), contextOf())).category, 'successful')
  assert.deepEqual(seen, ['/w/?token=BQYA%2bA%3d%3d'])
})

test('many messages at once all arrive, and do not block the process', async (t) => {
  const { standIn, service, device } = await startWebPush(t)
  const to = device()
  let turns = 0
  const counting = setInterval(() => turns++, 1).unref()
  const answers = await Promise.all(Array.from({ length: 300 }, () => service.send(pushTo(to), contextOf(30_000))))
  clearInterval(counting)
  assert.ok(answers.every(({ category }) => category === 'successful'))
  assert.equal(standIn.shown(to.token).length, 300)
  assert.ok(turns > 10, `${turns} timers ran`)
  // One signature per push service, not one per message.
  assert.equal(new Set(standIn.arrivals.map(({ headers }) => headers.authorization)).size, 1)
})

test('invalid keys, subjects, hosts and origins are refused at once, with a remedy', () => {
  const keys = makeVapidKeys()
  for (const [over, pattern] of [
    [{ privateKey: makeVapidKeys().privateKey }, /does not belong to the private key.*bellwire vapid/],
    [{ publicKey: 'x' }, /public key is not 65 bytes/],
    [{ privateKey: 'x' }, /private key is not 32 bytes/],
    [{ subject: 'ops@example.com' }, /neither mailto: nor https:/],
    [{ hosts: ['https://push.example.com'] }, /is not a host; write push\.example\.com/],
    [{ origins: { 'https://push.example.com': 'http://127.0.0.1:1/path' } }, /is not an origin/],
  ] as const) {
    assert.throws(() => webPush({ ...keys, subject, ...over }), pattern)
  }
})
