import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { LookupFunction } from 'node:net'
import test, { type TestContext } from 'node:test'
import { checkVapid, checkWebPush } from '../../../src/subjects/providers/web-push/check.ts'
import { makeVapidKeys } from '../../../src/subjects/providers/web-push/vapid.ts'
import { listenLocally } from '../../support/listen-locally.ts'
import { startWebPush, subject } from './fixture.ts'

/** Tests have no access to the internet. */
const lookup: LookupFunction = (_host, _options, callback) =>
  callback(Object.assign(new Error('no name server'), { code: 'ENOTFOUND' }), '')

const elsewhere = ['fcm.googleapis.com', 'updates.push.services.mozilla.com', 'web.push.apple.com'].map(
  (host) => `https://${host}`,
)

async function serverWithClock(t: TestContext, clock: () => number): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(404, { date: new Date(clock()).toUTCString() }).end('not found')
  })
  return (await listenLocally(t, server)).url
}

test('a valid credential with reachable push services passes all checks', async (t) => {
  const reachable = await serverWithClock(t, Date.now)
  const origins = Object.fromEntries(elsewhere.map((origin) => [origin, reachable]))
  const { service } = await startWebPush(t, { origins })
  const checks = await service.check?.()
  assert.deepEqual(
    checks?.map(({ ok, description }) => [ok, description]),
    [
      [true, 'Web Push: the VAPID keys are a valid pair'],
      [true, 'Web Push: every push service accepts the VAPID subject'],
      [true, 'Web Push: fcm.googleapis.com can be reached'],
      [true, 'Web Push: updates.push.services.mozilla.com can be reached'],
      [true, 'Web Push: web.push.apple.com can be reached'],
    ],
  )
})

test('invalid keys and subjects are reported with a remedy', () => {
  const keys = makeVapidKeys()
  const [pair] = checkVapid({ ...keys, privateKey: makeVapidKeys().privateKey, subject })
  assert.match(
    `${pair?.ok} ${pair?.description} ${pair?.remedy}`,
    /^false .*belong to the private key .*bellwire vapid/,
  )
  const [, invalid] = checkVapid({ ...keys, subject: 'me' })
  assert.match(
    `${invalid?.ok} ${invalid?.description} ${invalid?.remedy}`,
    /^false .*neither mailto: nor https: .*mailto:ops@/,
  )
  const [, apple] = checkVapid({ ...keys, subject: 'mailto:me@localhost' })
  assert.match(`${apple?.ok} ${apple?.description}`, /^false .*localhost, not at a public domain: Apple refuses it/)
})

test('push services that cannot be reached are reported, each with a remedy', async () => {
  const checks = await checkWebPush({ ...makeVapidKeys(), subject, hosts: ['push.example.com', '*.x.example'], lookup })
  const lost = checks.filter(({ ok }) => !ok)
  assert.equal(lost.length, 4)
  for (const { description, remedy } of lost) {
    assert.match(description, /cannot be reached \(ENOTFOUND\)/)
    assert.match(remedy ?? '', /allow connections from this machine to /)
  }
  assert.match(lost.map(({ description }) => description).join(), /push\.example\.com/)
})

test('a wrong clock is reported, with its direction', async (t) => {
  const minutes = 60_000
  for (const [skewMs, words] of [
    [20 * minutes, /this machine's clock is 20 minutes behind that of/],
    [-20 * minutes, /this machine's clock is 20 minutes ahead of that of/],
    [2 * minutes, undefined],
    [-2 * minutes, undefined],
  ] as const) {
    const origins = { 'https://push.example.com': await serverWithClock(t, () => Date.now() + skewMs) }
    const checks = await checkWebPush({ ...makeVapidKeys(), subject, origins, lookup })
    const clock = checks.find(({ description }) => description.includes('clock'))
    if (words) assert.match(clock?.description ?? '', words)
    else assert.equal(clock, undefined)
  }
})
