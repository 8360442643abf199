// The service worker of the package, in a process with the parts of a browser that it uses.

import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'

type Listener = (event: object) => void
const listeners = new Map<string, Listener>()
const shown: { title: string; options: Record<string, unknown> }[] = []
const opened: string[] = []
const focused: string[] = []
const requests: { url: string; authorization: string | undefined; body: unknown }[] = []
let tabs: string[] = []
/** The statuses of the next answers; then 200. */
let answers: number[] = []
const subscriptionOf = (endpoint: string) => ({
  endpoint,
  options: { applicationServerKey: 'the key' },
  toJSON: () => ({ endpoint, keys: {} }),
})
const subscribed: unknown[] = []

Object.assign(globalThis, {
  self: {
    location: new URL('https://shop.example/w.js?url=https://api.example/&token-url=/bellwire-token'),
    addEventListener: (name: string, listener: Listener) => listeners.set(name, listener),
    clients: {
      matchAll: async () => tabs.map((url) => ({ url, focus: async () => focused.push(url) })),
      openWindow: async (url: string) => opened.push(url),
    },
    registration: {
      scope: 'https://shop.example/',
      showNotification: async (title: string, options: Record<string, unknown>) => shown.push({ title, options }),
      pushManager: {
        getSubscription: async () => null,
        async subscribe(options: unknown) {
          subscribed.push(options)
          return subscriptionOf('https://push.example/new')
        },
      },
    },
  },
  async fetch(url: string, { headers, body }: { headers?: Record<string, string>; body?: string }) {
    requests.push({ url, authorization: headers?.authorization, body: body && JSON.parse(body) })
    return Response.json({ token: 'the token' }, { status: answers.shift() ?? 200 })
  },
})
// A module that TypeScript compiles for browsers.
const module = '../../src/tools/widget/push-worker.ts'
await import(module)

async function dispatch(name: string, event: object): Promise<void> {
  const work: Promise<unknown>[] = []
  listeners.get(name)?.({ waitUntil: (promise: Promise<unknown>) => work.push(promise), ...event })
  assert.equal(work.length, 1, name)
  await Promise.all(work)
}

const push = async (text: string | undefined) => {
  shown.length = 0
  await dispatch('push', { data: text === undefined ? null : { text: () => text } })
  assert.equal(shown.length, 1, `something is shown for ${text}`)
  return shown[0] as (typeof shown)[number]
}

test('each push shows something, whatever its text is: a browser ends the subscription of a site that shows nothing', async () => {
  assert.partialDeepStrictEqual(await push('{"push_id":"p","title":"Hello","body":"b","icon":"/i.png"}'), {
    title: 'Hello',
    options: { body: 'b', icon: '/i.png', tag: 'p' },
  })
  const devtools = await push('Test push message from DevTools.')
  assert.deepEqual([devtools.title, devtools.options.body], ['shop.example', 'Test push message from DevTools.'])
  for (const text of ['', 'null', '5', '[]', '{"push_id":"p","data":{"n":1}}', '{"title":""}', undefined])
    assert.equal((await push(text)).title, 'shop.example', text)
})

const click = (data: object | null) => {
  opened.length = 0
  focused.length = 0
  return dispatch('notificationclick', { notification: { data, close() {} } })
}

test('a click focuses the open tab at the address, and opens a tab only if there is none', async () => {
  tabs = ['https://shop.example/', 'https://shop.example/bonus']
  await click({ url: '/bonus' })
  assert.deepEqual([focused, opened], [['https://shop.example/bonus'], []])
  await click({ url: '/other' })
  assert.deepEqual([focused, opened], [[], ['https://shop.example/other']])
  await click(null)
  assert.deepEqual([focused, opened], [['https://shop.example/'], []])
  tabs = []
  await click({ url: 'javascript:alert(1)' })
  assert.deepEqual([focused, opened], [[], ['https://shop.example/']])
})

test('a subscription that the browser replaces is linked, and the old one is unlinked', async () => {
  const old = subscriptionOf('https://push.example/old')
  await dispatch('pushsubscriptionchange', { oldSubscription: old, newSubscription: null })
  assert.deepEqual(subscribed, [{ userVisibleOnly: true, applicationServerKey: 'the key' }])
  const record = (token: string) => ({ tokens: [{ token, provider: 'webpush', channel: 'web' }] })
  assert.deepEqual(requests, [
    { url: '/bellwire-token', authorization: undefined, body: undefined },
    {
      url: 'https://api.example/app/devices/link',
      authorization: 'Bearer the token',
      body: record('{"endpoint":"https://push.example/new","keys":{}}'),
    },
    {
      url: 'https://api.example/app/devices/unlink',
      authorization: 'Bearer the token',
      body: record('https://push.example/old'),
    },
  ])
})

test('a subscription is linked although the operator first answers 503', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  requests.length = 0
  answers = [200, 503]
  let ended = false
  const linked = dispatch('pushsubscriptionchange', {
    newSubscription: subscriptionOf('https://push.example/newer'),
  }).finally(() => {
    ended = true
  })
  // The wait begins when the answer was read.
  while (!ended) {
    await setImmediate()
    t.mock.timers.tick(1_000)
  }
  await linked
  assert.deepEqual(requests[2], requests[1])
  assert.equal(requests[2]?.url, 'https://api.example/app/devices/link')
})
