// Lanes of the platform's store: added, changed and removed by calls, without a restart.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import { element, get, post, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { addressesOf, freePlatformPorts, run, start } from './bellwire.ts'

const skip = await withoutPostgres()
const office = 'the-key-of-the-office-1'
const secret = 'the-secret-of-the-operator-7'
const appSecret = 'a-secret-of-at-least-32-characters'

const written = (store: string, brands: readonly number[], more = '') => `
platform:
  store: ${store}
  keys:
    - {name: office, key: ${office}, scopes: [lanes, counts, enqueue, audit, reload, decide]}
    - {name: of brand 1, key: the-key-of-brand-1, scopes: [lanes], brands: [1]}
    - {name: of brand 7, key: the-key-of-brand-7, scopes: [lanes], brands: [7]}
  lanes:
${brands.map((brand) => `    - {brand: ${brand}, channel: push, to: {provider: operator-api, url: "http://127.0.0.1:9", api_key: the-key-of-the-lane}}`).join('\n')}
${more}`

test('a lane of the store is served, changed and removed by calls; the configuration and the store never contradict', async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  const got: { key: string | undefined; brand: number }[] = []
  const url = await startAccepting(t, (brands, key) => void got.push(...brands.map((brand) => ({ key, brand }))))
  await writeFile(file, written('sqlite:platform.db', [1]))
  const platform = start(t, ['platform', '-c', file], freePlatformPorts)
  const { admin } = await addressesOf(platform)
  const call = (path: string, body: object, key = office) => post(`${admin}/admin/lanes/${path}`, body, key)
  const enqueue = (brand: number) => post(`${admin}/admin/activities/push`, [element({ brand_id: brand })], office)
  const lanes = async () =>
    (await get(`${admin}/admin/lanes`, office)).body.lanes.map(({ name }: { name: string }) => name)
  const settings = { brand: 7, channel: 'push', span: '5ms', to: { provider: 'operator-api', url, api_key: secret } }

  for (const [wrong, expected] of [
    [{ ...settings, spam: 1 }, /^store {2}platform\.lanes\[1\]\.spam: unknown setting/],
    [{ ...settings, max: 0 }, /^store {2}platform\.lanes\[1\]\.max: expected /],
    [{ ...settings, to: { ...settings.to, ca: '/etc/passwd' } }, /\.to\.ca: a lane of the store names no file/],
    [
      { ...settings, profile: '/etc/passwd' },
      /^store {2}platform\.lanes\[1\]\.profile: a lane of the store names no file/,
    ],
    [{ ...settings, to: { module: '/tmp/mine.ts' } }, /\.to\.module: a lane of the store names no file/],
    [{ ...settings, brand: 1 }, /the lane 1\/push is in the store, and also at bellwire\.yaml:9, platform\.lanes\[0\]/],
  ] as const) {
    const { status, body } = await call('add', { settings: wrong })
    assert.equal(status, 400, JSON.stringify(body))
    assert.match(body.error, expected)
  }
  assert.equal((await call('add', { settings }, 'the-key-of-brand-1')).status, 403, 'a key of another brand')
  for (const brand of [1, '1', 2, { toString: 1 }]) {
    const { status, body } = await call('add', { settings: { ...settings, brand } }, 'the-key-of-brand-7')
    assert.deepEqual(
      [status, body.error],
      [403, `the key of brand 7 may not act for brand ${typeof brand === 'object' ? JSON.stringify(brand) : brand}`],
      'it exists or not',
    )
  }

  const lane = join(folder, 'lane.yaml')
  await writeFile(join(folder, 'secret'), secret)
  await writeFile(
    lane,
    `{brand: 7, channel: push, span: 5ms, to: {provider: operator-api, url: "${url}", api_key: "\${file:secret}"}}`,
  )
  const added = await run(['lanes', 'add', '--file', lane, '--url', admin], { BELLWIRE_KEY: office })
  assert.match(added.out, /^Lane 7\/push:\n/, added.err)
  await until(async () => (await lanes()).includes('7/push'), { awaited: 'the lane is served' })
  assert.equal((await enqueue(7)).status, 200)
  await until(() => got.length === 1, { awaited: 'the message' })
  assert.deepEqual(got, [{ key: secret, brand: 7 }])
  assert.equal((await call('add', { settings })).status, 400, 'it is there already')

  const { body: shown } = await get(`${admin}/admin/settings`, office)
  const found = shown.settings.find(({ setting }: { setting: string }) => setting === 'platform.lanes[1].to.url')
  assert.deepEqual([found.value, found.source], [url, 'store'])
  const trail = await get(`${admin}/admin/audit?act=lanes.add`, office)
  assert.deepEqual([trail.body.entries[0].lane, trail.body.entries[0].brand], ['7/push', '7'])
  for (const text of [added.out, JSON.stringify(shown), JSON.stringify(trail.body)]) assert.ok(!text.includes(secret))

  const changed = await call('change', { lane: '7/push', settings: { concurrency: 9, span: null } })
  assert.deepEqual([changed.body.settings.concurrency, changed.body.settings.span], ['9', '200ms'])
  assert.match((await call('change', { lane: '7/push', settings: { brand: 8 } })).body.error, /cannot change/)
  for (const brand of [1, 2])
    assert.equal((await call('change', { lane: '7/push', settings: { brand } }, 'the-key-of-brand-7')).status, 403)
  assert.equal((await call('change', { lane: '1/push', settings: { max: 1 } })).status, 404, 'a lane of the file')

  for (const more of ['', '  keep: 30d']) {
    await writeFile(file, written('sqlite:platform.db', [1, 7], more))
    const refused = await post(`${admin}/admin/reload`, {}, office)
    assert.equal(refused.status, 409)
    assert.match(
      refused.body.error,
      /the lane 7\/push is in the store, and also at bellwire\.yaml:10, platform\.lanes\[1\]/,
    )
  }

  await post(`${admin}/admin/lanes/pause`, { lane: '7/push', reason: 'to have a waiting message' }, office)
  await enqueue(7)
  const asked = await call('remove', { lane: '7/push' })
  assert.equal(asked.status, 409)
  assert.match(asked.body.error, /^1 messages wait in lane 7\/push/)
  const removed = await run(['lanes', 'remove', '7/push', '--waiting', 'keep', '--url', admin], {
    BELLWIRE_KEY: office,
  })
  assert.match(
    removed.out,
    /^Lane 7\/push is removed\. Its 1 waiting messages wait until it is added again\.\n$/,
    removed.err,
  )
  await until(async () => !(await lanes()).includes('7/push'), { awaited: 'the lane is not served' })
  assert.deepEqual((await lanes()).includes('1/push'), true)
  assert.equal((await call('add', { settings })).status, 200)
  await until(async () => (await lanes()).includes('7/push'), { awaited: 'the lane is served again' })
  await post(`${admin}/admin/lanes/resume`, { lane: '7/push' }, office)
  await until(() => got.length === 2, { awaited: 'the message that waited' })

  platform.child.kill('SIGTERM')
  await platform.ended
  assert.ok(!(platform.out() + platform.err()).includes(secret), 'the log has no secret')
  const again = await run(['platform', '-c', file], freePlatformPorts)
  assert.match(again.err, /the lane 7\/push is in the store, and also at bellwire\.yaml:10/)
})

test('while lanes come, change and go by calls and by reloads, calls of another lane and streams go on', async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  const got: number[] = []
  const slow = Promise.withResolvers<void>()
  const url = await startAccepting(t, async (brands) => {
    got.push(...brands)
    if (brands.includes(1)) await slow.promise
  })
  const push = (brand: number, more = '') =>
    `{brand: ${brand}, channel: push, span: 5ms, to: {provider: operator-api, url: "${url}", api_key: ${secret}}${more}}`
  const inbox = '{brand: 1, channel: site, span: 5ms, to: own}'
  const inboxOf2 = inbox.replace('brand: 1', 'brand: 2')
  const write = (lanes: readonly string[], key = 'the-key-of-nobody') =>
    writeFile(
      file,
      `
platform:
  store: sqlite:platform.db
  keys: [{name: office, key: ${office}, scopes: [lanes, enqueue, reload]}, {name: other, key: ${key}, scopes: [counts]}]
  own: {site: inbox, suppression: none, app: {secrets: [${appSecret}], origins: ["http://localhost"]}}
  lanes: [${lanes.join(', ')}]
`,
    )
  await write([push(1), inbox])
  const platform = start(t, ['platform', '-c', file], freePlatformPorts)
  const addresses = await addressesOf(platform)
  const call = async (path: string, body: object) => {
    const answer = await post(`${addresses.admin}/admin/${path}`, body, office)
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }
  const enqueue = (brand: number, channel = 'push') => call(`activities/${channel}`, [element({ brand_id: brand })])
  const delivered = (brands: readonly number[]) =>
    until(() => got.length === brands.length, { awaited: `the call for brand ${brands.at(-1)}` }).then(() =>
      assert.deepEqual(got, brands),
    )

  const token = await createSubscriberToken({ secret: appSecret, brand: '1', userId: '1001' })
  const stream = await fetch(`${addresses.url}/app/inbox/stream`, { headers: { authorization: `Bearer ${token}` } })
  const events = stream.body?.pipeThrough(new TextDecoderStream()).getReader() as ReadableStreamDefaultReader<string>
  let seen = ''
  const notified = async (count: number) => {
    while (seen.split('event: notification').length <= count) {
      const { done, value = '' } = await events.read()
      assert.ok(!done, `the stream ended after ${JSON.stringify(seen)}`)
      seen += value
    }
  }
  await enqueue(1)
  await delivered([1])
  const stored = { brand: 7, channel: 'push', span: '5ms', to: { provider: 'operator-api', url, api_key: secret } }
  await call('lanes/add', { settings: stored })
  await enqueue(7)
  await delivered([1, 7])
  await call('lanes/change', { lane: '7/push', settings: { max: 3 } })
  await enqueue(7)
  await delivered([1, 7, 7])
  // Its last answer may not be settled yet.
  await call('lanes/remove', { lane: '7/push', waiting: 'keep' })
  assert.equal((await enqueue(7)).accepted, 0)

  await write([push(2), push(1), inbox])
  assert.ok((await call('reload', {})).applied.includes('platform.lanes[0].brand'))
  await enqueue(2)
  await delivered([1, 7, 7, 2])
  await write([push(2, ', max: 3'), push(1), inbox], 'the-key-of-somebody')
  assert.deepEqual((await call('reload', {})).applied.toSorted(), ['platform.keys', 'platform.lanes[0].max'])
  await enqueue(2)
  await delivered([1, 7, 7, 2, 2])
  await write([push(1), inbox])
  await call('reload', {})
  assert.equal((await enqueue(2)).accepted, 0)

  await enqueue(1, 'site')
  await notified(1)
  slow.resolve()
  await enqueue(1)
  await delivered([1, 7, 7, 2, 2, 1])
  assert.doesNotMatch(platform.out(), /"server\.stopping"|"item\.retry"/, 'the side was not replaced')

  // The platform serves the inbox of another brand.
  await write([push(1), inbox, inboxOf2])
  await call('reload', {})
  while (!(await events.read()).done);
  await enqueue(1)
  await delivered([1, 7, 7, 2, 2, 1, 1])
  assert.match(platform.out(), /"server\.stopping"/)
})

test('a lane of the store is served by the other processes too', { skip }, async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  await writeFile(file, written(`"${await freshSchema()}"`, [1]))
  const processes = [
    start(t, ['platform', '-c', file], freePlatformPorts),
    start(t, ['platform', '-c', file], freePlatformPorts),
  ]
  const [first, second] = await Promise.all(processes.map(addressesOf))
  const settings = {
    brand: 7,
    channel: 'push',
    to: { provider: 'operator-api', url: 'http://127.0.0.1:9', api_key: secret },
  }
  const lanes = async (url = '') => (await get(`${url}/admin/lanes`, office)).text
  assert.equal((await post(`${first?.admin}/admin/lanes/add`, { settings }, office)).status, 200)
  await until(async () => (await lanes(second?.admin)).includes('7/push'), { awaited: 'the other process' })
  assert.equal((await post(`${second?.admin}/admin/lanes/remove`, { lane: '7/push' }, office)).status, 200)
  await until(async () => !(await lanes(first?.admin)).includes('7/push'), { awaited: 'the first process' })
  for (const each of processes) assert.doesNotMatch(each.out(), /"server\.stopping"/, 'no side was replaced')
})

/** Starts an operator that accepts every message. @param onBatch receives the brands of a batch and its key, before the answer */
async function startAccepting(
  t: TestContext,
  onBatch: (brands: readonly number[], key: string | undefined) => void | Promise<void>,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const elements = (await json(request)) as { activity: { id: number; brand_id: number } }[]
    const brands = elements.map(({ activity }) => activity.brand_id)
    await onBatch(brands, request.headers['x-api-key'] as string | undefined)
    const successful = elements.map(({ activity: { id } }) => ({ id, push_id: `p${id}` }))
    response.end(JSON.stringify({ successful, failed: [], fatal: [] }))
  })
  return (await listenLocally(t, server)).url
}
