// Web Push in real browsers: the real provider sends, the stand-in is the push service, and the service worker of the site
// receives.

import assert from 'node:assert/strict'
import test, { after, type TestContext } from 'node:test'
import { bundleWidget } from '../../release/bundle-widget.ts'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { makeVapidKeys } from '../../src/subjects/providers/web-push/vapid.ts'
import { webPush } from '../../src/subjects/providers/web-push/web-push.ts'
import { startWebPushStandIn, type WebPushStandIn } from '../../src/tools/stand-ins/web-push.ts'
import { deviceOf, subject } from '../providers/web-push/fixture.ts'
import { pushTo } from '../suites/push-service.ts'
import { contextOf } from '../support/context.ts'
import { freePort } from '../support/free-port.ts'
import { reportingPlatform, type Way } from '../support/reporting-sides.ts'
import { adminKey, element, get, post, startOperator, startPlatform } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import {
  clickInPage,
  clickInWidget,
  replaceInPage,
  startPushSite,
  subscribeInPage,
  unsubscribeInPage,
  within,
} from './push-site.ts'

export interface BrowserFixture {
  readonly name: string
  readonly skip: string | false
  /** How the operator reports statuses to the platform. */
  readonly way: Way
  /** The origin of the endpoints, if the browser chooses it. Absent: the endpoints are at the stand-in. */
  readonly origin?: string
  /** Starts a browser that subscribes at the stand-in. It ends with the file of tests. @returns a function that opens a page of a site */
  launch(file: Lifetime, standIn: WebPushStandIn): Promise<(site: string) => Promise<Page>>
  /** Tests of this browser alone. */
  further?(standIn: WebPushStandIn, open: (t: TestContext, site: string) => Promise<Page>): void
}

export interface Lifetime {
  after(work: () => Promise<void>): void
}

export interface Page {
  evaluate<T>(run: (argument: string) => Promise<T>, argument: string): Promise<T>
  close(): Promise<void>
}

const secret = 'the-secret-of-the-receipts-of-a-test'

// A test can neither click a notification of the desktop nor let the browser replace a subscription, so the page asks the worker to
// dispatch these events. Such an event may not focus a tab, so the worker tells the tab instead.
const clickOnRequest = `
  self.addEventListener('install', () => self.skipWaiting())
  self.addEventListener('activate', (event) => event.waitUntil(clients.claim()))
  WindowClient.prototype.focus = async function () {
    this.postMessage(this.url)
  }
  self.addEventListener('message', (event) => event.waitUntil(event.data === 'replace' ? replace() : click()))
  async function replace() {
    const oldSubscription = await registration.pushManager.getSubscription()
    await oldSubscription.unsubscribe()
    const event = new ExtendableEvent('pushsubscriptionchange')
    self.dispatchEvent(Object.assign(event, { oldSubscription, newSubscription: null }))
  }
  async function click() {
    const [notification] = await registration.getNotifications()
    self.dispatchEvent(new NotificationEvent('notificationclick', { notification }))
  }
`

/** The tests share the browser and the stand-in. Each has a site of its own, and so a service worker and a subscription of its own. */
export async function webPushSuite({ name, skip, way, origin, launch, further }: BrowserFixture): Promise<void> {
  const standIn = await startWebPushStandIn(origin === undefined ? {} : { origin })
  after(() => standIn.close())
  const openSite = skip ? undefined : await launch({ after }, standIn)
  const open = async (t: TestContext, site: string): Promise<Page> => {
    const page = (await openSite?.(site)) as Page
    t.after(() => page.close())
    return page
  }
  further?.(standIn, open)

  test(`${name}: a message is displayed, a click focuses the open tab, and the platform gets both ${way}, with the meta`, {
    skip,
    timeout: 120_000,
  }, async (t) => {
    const site = await startPushSite(t, `${Buffer.from(await bundleWidget('push-worker'))}\n${clickOnRequest}`)
    const page = await open(t, site.url)
    const keys = makeVapidKeys()
    const platform = await reportingPlatform(t, way)
    const { port } = platform.operator.listen
    const service = webPush({
      ...keys,
      subject,
      origins: { [origin ?? standIn.url]: standIn.url },
      receipts: { url: `http://127.0.0.1:${port}/app/receipts`, secret },
    })
    const { url } = await startOperator(t, {
      ...platform.operator,
      push: { devices: { source: 'registry', services: [service] } },
      app: { secrets: [secret], origins: [site.url] },
    })
    const token = await within(page.evaluate(subscribeInPage, keys.publicKey), `${name} subscribes`)
    const bearer = await createSubscriberToken({ secret, brand: '1', userId: '1001' })
    const tokens = [{ token, channel: 'web', provider: 'webpush' }]
    const linked = await post(`${url}/app/devices/link`, { tokens }, undefined, { authorization: `Bearer ${bearer}` })
    assert.equal(linked.status, 200, linked.text)

    const activity = '{ "id": 7002, "brand_id":1,"user_id":"1001","x":1e3 }'
    await platform.enqueue(
      `{"title":"Hello","url":"${site.url}/","meta": {"campaign": 1.0},"activity":${activity}}`,
      'push',
    )
    await platform.waitUntil(7002, ({ status }) => status === 'displayed', 'the platform has it as displayed')
    const focused = await within(page.evaluate(clickInPage, ''), `${name} clicks, and the open tab is focused`)
    assert.equal(focused, `${site.url}/`)
    const { statuses } = await platform.waitUntil(
      7002,
      ({ status }) => status === 'clicked',
      'the platform has the click',
    )
    for (const { meta } of statuses) {
      assert.ok(meta.includes(`"activity":${activity}`), meta)
      assert.ok(meta.endsWith(',"meta":{"campaign": 1.0}}'), meta)
    }
  })

  test(`${name}: a push and a notification of a lane without an operator are clicked, and the platform counts both`, {
    skip,
    timeout: 120_000,
  }, async (t) => {
    const bearer = await createSubscriberToken({ secret, brand: '1', userId: '1001' })
    const site = await startPushSite(t, `${Buffer.from(await bundleWidget('push-worker'))}\n${clickOnRequest}`, {
      '/widget.js': { type: 'text/javascript', body: await bundleWidget('inbox-element') },
      '/token': { type: 'application/json', body: JSON.stringify({ token: bearer }) },
    })
    const page = await open(t, site.url)
    const keys = makeVapidKeys()
    const port = await freePort()
    const service = webPush({
      ...keys,
      subject,
      origins: { [origin ?? standIn.url]: standIn.url },
      receipts: { url: `http://127.0.0.1:${port}/app/receipts`, secret },
    })
    const lane = (channel: 'push' | 'site') => ({ brand: '1', channel, mode: 'single', provider: 'own' }) as const
    const { url } = await startPlatform(t, {
      listen: { port },
      lanes: [lane('push'), lane('site')],
      own: {
        push: { devices: { source: 'registry', services: [service] } },
        site: 'inbox',
        suppression: 'none',
        app: { secrets: [secret], origins: [site.url] },
      },
    })
    const token = await within(page.evaluate(subscribeInPage, keys.publicKey), `${name} subscribes`)
    const tokens = [{ token, channel: 'web', provider: 'webpush' }]
    const linked = await post(`${url}/app/devices/link`, { tokens }, undefined, { authorization: `Bearer ${bearer}` })
    assert.equal(linked.status, 200, linked.text)
    const counted = async () =>
      (await get(`${url}/admin/conversions`)).body.groups.map(
        ({ lane, displayed, clicked }: Record<string, unknown>) => `${lane} ${displayed} ${clicked}`,
      )
    const untilCounted = (...expected: readonly string[]) =>
      until(async () => (await counted()).join() === expected.join(), {
        awaited: `the platform counts ${expected.join()}`,
        withinMs: 60_000,
      })

    await post(`${url}/admin/activities/push`, element({}, { meta: { campaign: 7 } }), adminKey.key)
    await untilCounted('1/push 1 0')
    await within(page.evaluate(clickInPage, ''), `${name} clicks the push`)
    await post(`${url}/admin/activities/site`, element({}, { url: '#there' }), adminKey.key)
    await within(page.evaluate(clickInWidget, url), `${name} clicks the notification`)
    await untilCounted('1/push 1 1', '1/site 1 1')
    const { conversions } = (await get(`${url}/admin/conversions/messages?channel=push`)).body
    const { statuses } = conversions[0]
    // Firefox also reports that the clicked notification was closed.
    const names = statuses.map(({ status }: { status: string }) => status)
    for (const status of ['sent', 'displayed', 'clicked']) assert.ok(names.includes(status), names.join())
    for (const { meta } of statuses) assert.deepEqual(JSON.parse(meta).meta, { campaign: 7 })
  })

  test(`${name}: a subscription that was replaced is linked by the service worker, and the old one is unlinked`, {
    skip,
    timeout: 120_000,
  }, async (t) => {
    const bearer = await createSubscriberToken({ secret, brand: '1', userId: '1001' })
    const site = await startPushSite(t, `${Buffer.from(await bundleWidget('push-worker'))}\n${clickOnRequest}`, {
      '/token': { type: 'application/json', body: JSON.stringify({ token: bearer }) },
    })
    const page = await open(t, site.url)
    const keys = makeVapidKeys()
    const service = webPush({ ...keys, subject, origins: { [origin ?? standIn.url]: standIn.url } })
    const { url, devices } = await startOperator(t, {
      push: { devices: { source: 'registry', services: [service] } },
      app: { secrets: [secret], origins: [site.url] },
    })
    const query = new URLSearchParams({ url, 'token-url': '/token', key: keys.publicKey })
    const token = await within(page.evaluate(subscribeInPage, String(query)), `${name} subscribes`)
    const tokens = [{ token, channel: 'web', provider: 'webpush' }]
    const linked = await post(`${url}/app/devices/link`, { tokens }, undefined, { authorization: `Bearer ${bearer}` })
    assert.equal(linked.status, 200, linked.text)
    const linkedTokens = async (): Promise<string[]> => {
      const found = await devices.findDevices('1', ['1001'], contextOf())
      return (found.get('1001') ?? []).map((each) => each.token)
    }
    const before = await linkedTokens()
    await within(page.evaluate(replaceInPage, ''), `${name} replaces the subscription`)
    await until(
      async () => {
        const [now, ...others] = await linkedTokens()
        return others.length === 0 && now !== undefined && !before.includes(now)
      },
      { awaited: 'only the new subscription is linked', withinMs: 60_000 },
    )
    assert.equal((await post(`${url}/channels/push/single`, element())).status, 200)
  })

  test(`${name} subscribes, decrypts messages, shows a repeated message once, and unsubscribes`, {
    skip,
    timeout: 120_000,
  }, async (t) => {
    const site = await startPushSite(t)
    const page = await open(t, site.url)
    const keys = makeVapidKeys()
    const token = await within(page.evaluate(subscribeInPage, keys.publicKey), `${name} subscribes`)
    const { endpoint } = JSON.parse(token) as { endpoint: string }
    assert.ok(endpoint.startsWith(origin ?? standIn.url), endpoint)

    const origins = { [origin ?? standIn.url]: standIn.url }
    const service = webPush({ ...keys, subject, origins })
    t.after(() => service.close?.())
    const content = { title: 'Grüße', body: 'Für dich 🎁', data: '{"n":9007199254740993}' }
    const push = pushTo(deviceOf(token), { content })

    await t.test('the service worker receives the decrypted content', async () => {
      assert.partialDeepStrictEqual(await service.send(push, contextOf()), { category: 'successful', ref: push.ref })
      const { text, shown } = await site.next()
      assert.equal(text, `{"push_id":"${push.ref}","title":"Grüße","body":"Für dich 🎁","data":{"n":9007199254740993}}`)
      assert.deepEqual(shown, [{ title: 'Grüße', body: 'Für dich 🎁', tag: push.ref }])
    })

    await t.test('a message that arrives twice is shown once, and another message is shown beside it', async () => {
      standIn.play({ reset: 'after', times: 1 })
      assert.partialDeepStrictEqual(await service.send(push, contextOf()), { category: 'fatal', uncertain: true })
      assert.deepEqual(
        (await site.next()).shown.map(({ tag }) => tag),
        [push.ref],
      )
      const other = pushTo(deviceOf(token))
      await service.send(other, contextOf())
      assert.deepEqual((await site.next()).shown.map(({ tag }) => tag).sort(), [push.ref, other.ref].sort())
    })

    await t.test(
      'messages to an offline browser arrive when it is online, and those with the same topic only once',
      async () => {
        standIn.setOnline(endpoint, false)
        const away = pushTo(deviceOf(token), { content: { title: 'While you were away' } })
        await service.send(away, contextOf())
        await service.send(away, contextOf())
        assert.equal(site.waiting, 0)
        standIn.setOnline(endpoint, true)
        assert.equal((JSON.parse((await site.next()).text) as { title: string }).title, 'While you were away')
        const last = pushTo(deviceOf(token), { content: { title: 'Last' } })
        await service.send(last, contextOf())
        assert.equal(
          (JSON.parse((await site.next()).text) as { title: string }).title,
          'Last',
          'the first message arrived once',
        )
      },
    )

    await t.test('a message for another key is refused', async () => {
      const other = webPush({ ...makeVapidKeys(), subject, origins })
      const answer = await other.send(pushTo(deviceOf(token)), contextOf())
      await other.close?.()
      assert.partialDeepStrictEqual(answer, { category: 'fatal', reason: 'misconfigured', token: 'mismatch' })
    })

    await t.test('after the browser has unsubscribed, its token is gone', async () => {
      assert.equal(await within(page.evaluate(unsubscribeInPage, ''), `${name} unsubscribes`), true)
      // The browser notifies the page first, and then the push service.
      const answer = await until(
        async () => {
          const sent = await service.send(pushTo(deviceOf(token)), contextOf())
          return sent.category !== 'successful' && sent
        },
        { awaited: 'the push service has removed the subscription' },
      )
      assert.partialDeepStrictEqual(answer, { category: 'failed', token: 'gone', rule: 'web-push 410' })
    })
  })
}
