// A message without title and body is delivered with a warning. If title or body is required, it is refused and not sent.

import assert from 'node:assert/strict'
import test from 'node:test'
import { clock } from '../../src/base/runtime/clock.ts'
import type { Events } from '../../src/base/runtime/events.ts'
import { on } from '../../src/base/runtime/events.ts'
import { defaultContentMapping } from '../../src/contract/content.ts'
import { createTextWatch } from '../../src/subjects/delivery/text-watch.ts'
import { onSqlite } from '../support/engines.ts'
import { device, deviceBook, witnessService } from '../support/push-services.ts'
import { element, get, post, startOperator } from '../support/sides.ts'
import { event } from '../support/wait.ts'

const elementWithoutText = (over: object = {}) =>
  element({ ...over }, { title: undefined, body: undefined, headline: 'Hello' })
const createPush = () => {
  const service = witnessService('apns')
  return { service, options: { devices: { source: deviceBook([device()]), services: [service] } } }
}

onSqlite(
  'a message without title and body is delivered, its evidence says so, and a warning names the pointers',
  async (t, store) => {
    const { url } = await startOperator(t, { store, push: createPush().options })
    for (const [channel, rule] of [
      ['push', 'accepted, without title and body'],
      ['site', 'stored in the inbox, without title and body'],
    ] as const) {
      const warned = event('content.missing')
      const { status, body } = await post(`${url}/channels/${channel}/single`, elementWithoutText())
      assert.equal(status, 200)
      assert.deepEqual(await warned, { brand: '1', messages: 1, pointers: '/title, /body' })
      const ref = body.push_id ?? body.site_notification_id
      assert.equal((await get(`${url}/admin/messages/${ref}`)).body.rule, rule)
      const metrics = await (await fetch(`${url}/metrics`)).text()
      assert.match(metrics, new RegExp(`^bellwire_without_text_total\\{brand="1",channel="${channel}"\\} [1-9]`, 'm'))
    }
    const fine = await post(`${url}/channels/push/single`, element())
    assert.equal((await get(`${url}/admin/messages/${fine.body.push_id}`)).body.rule, 'accepted')
  },
)

onSqlite('if title or body is required, a message without both is failed and not sent', async (t, store) => {
  const { service, options } = createPush()
  const content = { ...defaultContentMapping, required: true }
  const { url } = await startOperator(t, { store, push: options, content })
  for (const channel of ['push', 'site']) {
    const refused = await post(`${url}/channels/${channel}/single`, elementWithoutText())
    assert.equal(refused.status, 400)
    assert.match(refused.body.error, /neither a title at \/title nor a body at \/body/)
    assert.equal((await post(`${url}/channels/${channel}/single`, element({}, { title: undefined }))).status, 200)
  }
  assert.equal(service.received.length, 1)
})

test('the first message of a brand raises a warning at once; the following ones are counted in one warning per interval', async (t) => {
  const warnings: Events['content.missing'][] = []
  t.after(on('content.missing', (warning) => warnings.push(warning)))
  const watch = createTextWatch(20)
  const together = event('content.missing', ({ messages }) => messages > 1)
  for (let n = 0; n < 1_000; n++) watch.recordMissing('1', 'push', ['/title', '/body'])
  watch.recordMissing('2', 'push', ['/title', '/body'])
  await together
  assert.deepEqual(
    warnings.map(({ brand, messages }) => [brand, messages]),
    [
      ['1', 1],
      ['2', 1],
      ['1', 999],
    ],
  )
})

test('a brand without one message with a text since the start is alerted after ten messages, and once an hour', async (t) => {
  let now = 0
  t.mock.method(clock, 'monotonic', () => now)
  const alerts: Events['content.unrecognised'][] = []
  t.after(on('content.unrecognised', (alert) => alerts.push(alert)))
  const watch = createTextWatch()
  const send = (brand: string, messages: number) => {
    for (let n = 0; n < messages; n++) watch.recordMissing(brand, 'push', ['/title', '/body'])
  }
  watch.recordFound('2', 'push')
  send('2', 1_000)
  send('1', 9)
  assert.deepEqual(alerts, [])
  send('1', 500)
  assert.deepEqual(alerts, [{ brand: '1', channel: 'push', messages: 10, pointers: '/title, /body' }])
  now += 3_600_000
  send('1', 1)
  assert.equal(alerts.length, 2)
  const recognised = event('content.recognised')
  watch.recordFound('1', 'push')
  assert.deepEqual(await recognised, { brand: '1', channel: 'push' })
  now += 3_600_000
  send('1', 100)
  assert.equal(alerts.length, 2)
})
