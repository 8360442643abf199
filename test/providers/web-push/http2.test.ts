// Web Push over HTTP/2, and over HTTP/1.1 to a service without HTTP/2.

import assert from 'node:assert/strict'
import type { LookupFunction } from 'node:net'
import test, { type TestContext } from 'node:test'
import { webPush } from '../../../src/subjects/providers/web-push/web-push.ts'
import { makeCertificate } from '../../../src/tools/stand-ins/certificate.ts'
import { pushTo } from '../../suites/push-service.ts'
import { connectProxy } from '../../support/connect-proxy.ts'
import { contextOf } from '../../support/context.ts'
import { deviceOf, startWebPush, subject, type WebPushSetup } from './fixture.ts'

const certificate = makeCertificate()

const startTls = (
  t: TestContext,
  options: Parameters<typeof startWebPush>[1] = {},
  standIn: { readonly http2?: boolean } = {},
): Promise<WebPushSetup> => startWebPush(t, { ca: certificate.cert, ...options }, { certificate, ...standIn })

const versionOf = (headers: Readonly<Record<string, string>> | undefined): string =>
  headers?.[':path'] === undefined ? 'HTTP/1.1' : 'HTTP/2'

const check = (title: string, run: (t: TestContext) => Promise<void>): void => {
  test(`web-push over HTTP/2: ${title}`, run)
}

check('messages of one service share a connection of HTTP/2, and are decrypted', async (t) => {
  const { standIn, service, device } = await startTls(t)
  const to = device()
  const pushes = Array.from({ length: 300 }, (_, n) => pushTo(to, { content: { title: `Hello ${n}` } }))
  const answers = await Promise.all(pushes.map((push) => service.send(push, contextOf())))
  assert.deepEqual(new Set(answers.map(({ rule }) => rule)), new Set(['web-push 201']))
  assert.equal(standIn.shown(to.token).length, 300)
  assert.deepEqual(new Set(standIn.arrivals.map(({ headers }) => versionOf(headers))), new Set(['HTTP/2']))
})

check('a message without an answer in time is uncertain, and the next one arrives', async (t) => {
  const { standIn, service, device } = await startTls(t)
  const to = device()
  await service.send(pushTo(to), contextOf())
  const stop = standIn.play({ delayMs: 5_000 })
  const answer = await service.send(pushTo(to), contextOf(200))
  assert.partialDeepStrictEqual(answer, { category: 'fatal', reason: 'timeout', blame: 'provider', uncertain: true })
  stop()
  assert.equal((await service.send(pushTo(to), contextOf())).category, 'successful')
})

check('a service without HTTP/2 is called over HTTP/1.1', async (t) => {
  const { standIn, service, device } = await startTls(t, {}, { http2: false })
  const to = device()
  for (let n = 0; n < 2; n++) assert.equal((await service.send(pushTo(to), contextOf())).category, 'successful')
  assert.deepEqual(
    standIn.arrivals.map(({ headers }) => versionOf(headers)),
    ['HTTP/1.1', 'HTTP/1.1'],
  )
})

for (const [version, standIn] of [
  ['HTTP/2', {}],
  ['HTTP/1.1', { http2: false }],
] as const)
  check(`with a proxy, messages go through it over ${version}`, async (t) => {
    const proxy = await connectProxy(t)
    const setup = await startTls(t, { proxy: proxy.url('user', 'secret') }, standIn)
    const answer = await setup.service.send(pushTo(setup.device()), contextOf())
    assert.equal(answer.category, 'successful')
    assert.deepEqual(new Set(proxy.tunnels.map(({ to }) => to)), new Set([new URL(setup.standIn.url).host]))
    assert.equal(versionOf(setup.standIn.arrivals[0]?.headers), version)
  })

check('a name of an internal address is not connected, and neither is an internal address', async (t) => {
  // The stand-in listens at 127.0.0.1.
  const { standIn, keys, device } = await startTls(t)
  const { port } = new URL(standIn.url)
  const lookup: LookupFunction = (_host, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }])
  const service = webPush({
    ...keys,
    subject,
    lookup,
    hosts: [`push.example.com:${port}`],
    ca: certificate.cert,
  })
  t.after(() => service.close?.())
  const subscription = JSON.parse(device().token) as { endpoint: string }
  const to = deviceOf(JSON.stringify({ ...subscription, endpoint: `https://push.example.com:${port}/wpush/v2/x` }))
  const answer = await service.send(pushTo(to), contextOf())
  assert.partialDeepStrictEqual(answer, { category: 'fatal', rule: 'web-push forbidden address' })
  assert.deepEqual(standIn.arrivals, [])
})
