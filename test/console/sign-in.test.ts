// Who gets into the console, and what a stranger can make it do.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import express from 'express'
import { type Handler, listen } from '../../src/base/http/http.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { hasConsole } from '../../src/tools/cli/serve.ts'
import { hourMs, passTime, stoppableClock } from '../support/set-clock.ts'
import {
  adminKey,
  keys,
  laneTo,
  openOperator,
  post,
  startOperator,
  startPlatform,
  temporary,
  witness,
} from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { signedIn, visitor } from './browse.ts'

const reader = { name: 'reader', key: 'the-key-of-the-reader', scopes: ['counts', 'read'] } as const

const startSide = (t: TestContext, adminKeys = [adminKey, reader] as never[]) => startOperator(t, { adminKeys })

test('a page leads to the sign-in, and from there back; each page names the person', async (t) => {
  const { url } = await startSide(t)
  const browser = visitor(url)
  const first = await browser.look('/console/lanes?live=off')
  assert.match(first.path, /^\/console\/sign-in\?to=/)
  assert.match(first.html, /name="to" value="\/lanes\?live&#61;off"/)
  const shown = await browser.send('/console/sign-in', { key: adminKey.key, to: '/lanes?live=off' })
  assert.equal(shown.path, '/console/lanes?live=off')
  assert.match(shown.text, /admin Sign out/)
  const out = await browser.send('/console/sign-out')
  assert.match(out.text, /You are signed out\. Sign in with a key/)
  assert.equal(browser.cookie, '')
})

test('both sides show whether all is well', async (t) => {
  const operator = await startSide(t)
  const provider = operatorApi({ url: operator.url, apiKey: keys.one.key })
  const platform = await startPlatform(t, { lanes: [{ brand: '1', channel: 'push', mode: 'single', provider }] })
  for (const { url } of [operator, platform]) {
    const shown = await (await signedIn(url, adminKey.key)).look('/console')
    assert.equal(shown.status, 200)
    assert.match(shown.text, /All is well.*Waiting 0.*Successful 0/)
  }
})

test('a wrong key signs nobody in, and guessing is slowed down', async (t) => {
  const time = stoppableClock(t)
  const { url } = await startSide(t)
  // No time passes, so that no further guess is allowed.
  time.stop()
  const browser = visitor(url)
  const refused = await browser.send('/console/sign-in', { key: 'a-wrong-key-of-the-admin' })
  assert.equal(refused.status, 401)
  assert.match(refused.text, /This is not a key/)
  assert.equal(browser.cookie, '')
  const statuses = new Set<number>()
  for (let guess = 0; guess < 130; guess++)
    statuses.add((await browser.send('/console/sign-in', { key: `a-wrong-key-number-${guess}` })).status)
  assert.deepEqual(statuses, new Set([401, 503]))
  // The right key reveals nothing either.
  assert.equal((await browser.send('/console/sign-in', { key: adminKey.key })).status, 503)
})

test('a session is new at each sign-in, cannot be chosen by others, and ends with the sign-out', async (t) => {
  const { url } = await startSide(t)
  const browser = visitor(url)
  browser.cookie = 'bellwire-operator=chosen-by-an-attacker'
  assert.match((await browser.look('/console')).path, /sign-in/)
  await browser.send('/console/sign-in', { key: adminKey.key })
  const first = browser.cookie
  assert.doesNotMatch(first, /chosen/)
  await browser.send('/console/sign-in', { key: adminKey.key })
  assert.notEqual(browser.cookie, first)
  const stolen = visitor(url)
  stolen.cookie = browser.cookie
  assert.equal((await stolen.look('/console')).path, '/console')
  await browser.look('/console')
  await browser.send('/console/sign-out')
  assert.match((await stolen.look('/console')).text, /Your session has ended/)
})

test('a session lasts over a restart, ends with its key, and is unknown to a side with the same configuration', async (t) => {
  const store = `sqlite:${join(await temporary(t), 'operator.db')}`
  const startAgain = (adminKeys: readonly object[]) => startOperator(t, { store, adminKeys: adminKeys as never })
  const before = await startAgain([adminKey, reader])
  const browser = await signedIn(before.url, adminKey.key)
  const pathIn = async (url: string): Promise<string> => {
    const again = visitor(url)
    again.cookie = browser.cookie
    return (await again.look('/console')).path
  }
  // A reader of the configuration, whose keys may be digests, can compute no cookie: the secret is in the store.
  assert.match(await pathIn((await startSide(t)).url), /sign-in/)
  await before.stop()
  const same = await startAgain([adminKey, reader])
  assert.equal(await pathIn(same.url), '/console')
  await same.stop()
  assert.match(await pathIn((await startAgain([reader])).url), /sign-in/)
})

test('the cookie is for this server only, and no page can be framed, cached or given a script', async (t) => {
  const { url } = await startSide(t)
  const response = await fetch(`${url}/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url },
    body: new URLSearchParams({ key: adminKey.key }),
  })
  assert.match(response.headers.get('set-cookie') ?? '', /; Path=\/console; HttpOnly; SameSite=Strict$/)
  assert.doesNotMatch(response.headers.get('set-cookie') ?? '', /the-key/)
  const { headers, html } = await (await signedIn(url, adminKey.key)).look('/console')
  const policy = headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'/)
  assert.match(policy, /frame-ancestors 'none'/)
  assert.doesNotMatch(policy, /unsafe/)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.doesNotMatch(html, /<script>|<script [^>]*>[^<]|\son\w+=|style=/)
})

test('another site can send no form: neither its Origin nor its lack of the token is accepted', async (t) => {
  const { url } = await startSide(t)
  const browser = await signedIn(url, adminKey.key)
  await browser.look('/console')
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])
    assert.equal((await browser.send('/console/sign-out', {}, headers as never)).status, 403, JSON.stringify(headers))
  assert.equal((await browser.send('/console/sign-out', { csrf: 'guessed' })).status, 403)
  const sites = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  assert.equal((await visitor(url).send('/console/sign-in', { key: adminKey.key }, sites)).status, 403)
  assert.equal((await browser.look('/console')).path, '/console', 'still signed in')
})

test('a sign-in leads only to pages of the console', async (t) => {
  const { url } = await startSide(t)
  const others = ['//evil.example', '/\\evil.example', 'https://evil.example', '@evil.example', '.evil.example']
  for (const to of [...others, '/a\r\nSet-Cookie: a=b', '/\u0000', '/é'])
    assert.equal((await visitor(url).send('/console/sign-in', { key: adminKey.key, to })).path, '/console', to)
})

test('an unknown page is a page, and a key without the scope is told which it lacks', async (t) => {
  const enqueuer = { name: 'enqueuer', key: 'the-key-of-the-enqueuer', scopes: ['enqueue'] } as const
  const { url } = await startSide(t, [adminKey, enqueuer] as never[])
  const unknown = await (await signedIn(url, adminKey.key)).look('/console/unknown')
  assert.equal(unknown.status, 404)
  assert.match(unknown.text, /There is no such page\./)
  const browser = visitor(url)
  const refused = await browser.send('/console/sign-in', { key: enqueuer.key })
  assert.equal(refused.status, 403)
  assert.match(refused.text, /lacks the scope/)
  assert.doesNotMatch(refused.html, /<nav[^>]*>.*Lanes/s)
})

test('all files that a page loads have at most 70 KB compressed, and come from this server', async (t) => {
  const { url } = await startSide(t)
  const { html } = await (await signedIn(url, adminKey.key)).look('/console')
  const files = [...html.matchAll(/(?:src|href)="([^"]*\/files\/[^"]*)"/g)].map((match) =>
    (match[1] as string).replaceAll('&#61;', '='),
  )
  assert.equal(files.length, 6)
  let bytes = gzipSync(html).length
  for (const file of files) {
    const response = await fetch(`${url}${file}`)
    assert.equal(response.status, 200, file)
    assert.equal(response.headers.get('content-encoding'), 'gzip')
    bytes += Number(response.headers.get('content-length'))
    await response.arrayBuffer()
  }
  assert.ok(bytes <= 70_000, `${bytes} bytes`)
  assert.doesNotMatch(html, /https?:\/\//)
})

test('a live page sends its part as server-sent events, with the headers of the page', async (t) => {
  const { url } = await startSide(t)
  const browser = await signedIn(url, adminKey.key)
  const response = await fetch(`${url}/console`, {
    headers: { accept: 'text/html, text/event-stream', cookie: browser.cookie },
  })
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  assert.match(Buffer.from((await reader.read()).value ?? []).toString(), /^data: .*All is well/)
  await reader.cancel()
})

test('a live page ends with its session: after a sign-out, after 12 hours, and when its key is revoked; others go on', async (t) => {
  passTime(t, 0)
  const { url } = await startPlatform(t, { lanes: [laneTo(witness())] })
  const addKey = async (name: string): Promise<string> =>
    (await post(`${url}/admin/keys`, { name, scopes: ['counts'] }, adminKey.key)).body.key
  const open = async (key: string) => {
    const browser = await signedIn(url, key)
    const { body } = await fetch(`${url}/console`, {
      headers: { accept: 'text/event-stream', cookie: browser.cookie },
      signal: AbortSignal.timeout(30_000),
    })
    let shown = ''
    const ended = (async () => {
      for await (const bytes of body as ReadableStream<Uint8Array>) shown += Buffer.from(bytes).toString()
      return shown.endsWith('event: ended\ndata: \n\n')
    })()
    return { browser, ended, shows: (text: string) => until(() => shown.includes(text), { awaited: text }) }
  }
  const [anna, ben, carl] = await Promise.all(['anna', 'ben', 'carl'].map(async (name) => open(await addKey(name))))
  assert.ok(anna && ben && carl)
  await Promise.all([anna, ben, carl].map(({ shows }) => shows('All is well')))
  await anna.browser.look('/console')
  await anna.browser.send('/console/sign-out')
  assert.equal(await anna.ended, true)
  await post(`${url}/admin/keys/revoke`, { name: 'ben' }, adminKey.key)
  assert.equal(await ben.ended, true)
  await post(`${url}/admin/lanes/pause`, { lane: '1/push', reason: 'a test' }, adminKey.key)
  await carl.shows('1 lane is paused')
  passTime(t, 12 * hourMs)
  assert.equal(await carl.ended, true)
})

test('a key without the overview is led to the first page that it may see', async (t) => {
  const texts = { name: 'texts', key: 'the-key-of-the-texts', scopes: ['read'] } as const
  const { url } = await startSide(t, [texts] as never[])
  const shown = await visitor(url).send('/console/sign-in', { key: texts.key })
  assert.equal(shown.path, '/console/messages')
  assert.doesNotMatch(shown.html, /data-letter="o"/)
})

test('one address for everything has the console only if no other machine reaches it', () => {
  assert.deepEqual(
    ['127.0.0.1', 'localhost', '::1', '0.0.0.0', '::', '10.0.0.1', 'operator.example', ''].map(hasConsole),
    [true, true, true, false, false, false, false, false],
  )
})

test('the address that others reach has /admin, but no console', async (t) => {
  const operator = await openOperator(t)
  const statusOf = async (handler: Handler, path: string): Promise<number> => {
    const { url, close } = await listen('operator', handler)
    const { status } = await fetch(`${url}${path}`, { headers: { 'x-api-key': adminKey.key } })
    await close(0)
    return status
  }
  assert.equal(await statusOf(operator.admin.handler, '/console/sign-in'), 200)
  assert.equal(await statusOf(operator.adminForPrograms.handler, '/admin/lanes'), 200)
  for (const path of ['/console', '/console/sign-in', '//console/sign-in', '/console/files/console.js']) {
    assert.equal(await statusOf(operator.adminForPrograms.handler, path), 404, path)
    assert.equal(await statusOf(operator.handler, path), 404, path)
  }
})

test('under a prefix of the host server, every address of a page has the prefix', async (t) => {
  const operator = await openOperator(t)
  const host = express().use('/bell', operator.admin.handler)
  const { url, close } = await listen('operator', host)
  t.after(() => close(0))
  const response = await fetch(`${url}/bell/console/lanes`)
  assert.equal(response.url, `${url}/bell/console/sign-in?to=%2Flanes`)
  const signed = await fetch(`${url}/bell/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url },
    body: new URLSearchParams({ key: adminKey.key, to: '/lanes' }),
  })
  assert.equal(signed.headers.get('location'), '/bell/console/lanes')
  const cookie = signed.headers.get('set-cookie') ?? ''
  assert.match(cookie, /; Path=\/bell\/console;/)
  const html = await (
    await fetch(`${url}/bell/console/lanes`, { headers: { cookie: cookie.split(';')[0] as string } })
  ).text()
  for (const [, address] of html.matchAll(/(?:href|src|action|connect)="(?!#|data:)([^"]*)"/g))
    assert.match(address as string, /^\/bell\/console/)
})
