// Runs `bellwire stand-ins`, and the real operator with the configuration that it writes, as two processes.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { promisify } from 'node:util'
import type { MadeDevice } from '../../src/tools/stand-ins/all.ts'
import { startConfiguredOperator } from '../support/configured-sides.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { element, post, temporary } from '../support/sides.ts'
import { addressesOf, freePorts, run, type Started, start } from './bellwire.ts'

const serviceKey = 'stand-ins-service-key-1'
const platformKey = 'stand-ins-platform-key-1'

interface Running {
  readonly standIns: Started
  readonly operator: Started
  readonly control: string
  readonly url: string
  readonly admin: string
  readonly folder: string
}

async function startAll(t: TestContext): Promise<Running> {
  const folder = join(await temporary(t), 'written', 'here')
  const standIns = start(t, ['stand-ins', '--dir', folder, '--port', '0', '--json'])
  const { control } = JSON.parse(await standIns.line(/"running"/)) as { control: string }
  const config = join(folder, 'bellwire.yaml')
  const operator = start(t, ['operator', '--config', config], freePorts)
  return { standIns, operator, control, ...(await addressesOf(operator)), folder }
}

async function createDevice(control: string, options: object): Promise<MadeDevice> {
  const { status, body } = await post(`${control}/devices`, options, undefined)
  assert.equal(status, 200, JSON.stringify(body))
  return body as MadeDevice
}

const link = ({ admin }: Running, { link }: MadeDevice, brand: string, userId: string) =>
  post(`${admin}/admin/devices/link`, { brand, user_id: userId, tokens: [link] }, serviceKey)

async function shown(
  { control }: Running,
  { id }: MadeDevice,
  count = 1,
): Promise<{ title: string; replaced: number }[]> {
  const response = await fetch(`${control}/shown?device=${id}&count=${count}&wait=15`)
  return ((await response.json()) as { shown: { title: string; replaced: number }[] }).shown
}

test('stand-ins and the real operator with their configuration', async (t) => {
  const all = await startAll(t)

  await t.test('a device of each stand-in shows a message sent through the real operator', async () => {
    const { control, url, standIns, folder } = all
    const kinds = [
      { service: 'fcm', name: 'phone' },
      { service: 'fcm', kind: 'fcm_fid' },
      { service: 'apns' },
      { service: 'apns', environment: 'sandbox' },
      { service: 'web-push', name: 'browser' },
    ]
    const devices = await Promise.all(kinds.map((kind) => createDevice(control, kind)))
    for (const device of devices) assert.equal((await link(all, device, '1', '1001')).status, 200)
    // Another brand has a user with the same id and a different device.
    const other = await createDevice(control, { service: 'fcm' })
    assert.equal((await link(all, other, '2', '1001')).status, 200)

    const message = element({ user_id: '1001' }, { title: 'Hello', body: 'There' })
    const sent = await post(`${url}/channels/push/single`, message, platformKey)
    assert.equal(sent.status, 200, sent.text)
    for (const device of devices)
      assert.deepEqual(
        (await shown(all, device)).map(({ title }) => title),
        ['Hello'],
        device.service,
      )
    const line = JSON.parse(await standIns.line(/"shown".*"browser"/)) as Record<string, unknown>
    assert.partialDeepStrictEqual(line, { service: 'web-push', title: 'Hello', body: 'There' })
    const nothing = await fetch(`${control}/shown?device=${other.id}`)
    assert.deepEqual(((await nothing.json()) as { shown: unknown[] }).shown, [])

    const report = await run(['doctor', '--json', '--config', join(folder, 'bellwire.yaml')], {
      BELLWIRE_OPERATOR_PORT: new URL(url).port,
      BELLWIRE_OPERATOR_ADMIN_PORT: new URL(all.admin).port,
    })
    assert.equal(report.code, 0, report.out)
  })

  await t.test('a message that is sent again after an injected fault is shown once', async () => {
    const phone = await createDevice(all.control, { service: 'fcm' })
    await link(all, phone, '2', '1002')
    const fault = await post(
      `${all.control}/faults`,
      { service: 'fcm', device: phone.id, reset: 'after', times: 1 },
      undefined,
    )
    assert.equal(fault.status, 200, fault.text)
    const message = element({ brand_id: 2, user_id: '1002' })
    const lost = await post(`${all.url}/channels/push/single`, message, platformKey)
    assert.equal(lost.status, 503, lost.text)
    const again = await post(`${all.url}/channels/push/single`, message, platformKey)
    assert.equal(again.status, 200, again.text)
    assert.deepEqual(
      (await shown(all, phone)).map(({ replaced }) => replaced),
      [1],
    )
    const response = await fetch(`${all.control}/arrivals?token=${phone.token}`)
    const { arrivals } = (await response.json()) as { arrivals: { accepted: boolean; status: number }[] }
    assert.deepEqual(
      arrivals.map(({ accepted, status }) => [accepted, status]),
      [
        [true, 0],
        [true, 200],
      ],
    )
  })

  await t.test('only the owner can read the credentials', async () => {
    const files = await readdir(all.folder)
    for (const name of ['bellwire.yaml', 'fcm-service-account.json', 'fcm-ca.pem', 'apns-key.p8', 'apns-ca.pem']) {
      assert.ok(files.includes(name), name)
      assert.equal((await stat(join(all.folder, name))).mode & 0o077, 0)
    }
  })

  await t.test('both end at SIGINT', async () => {
    for (const { child, ended } of [all.operator, all.standIns]) {
      child.kill('SIGINT')
      const { code, err } = await ended
      assert.equal(code, 0, err)
    }
  })
})

test('the printed commands work unchanged', async (t) => {
  const folder = await temporary(t)
  const standIns = start(t, ['stand-ins', '--dir', folder, '--port', '0'])
  await standIns.line(/Ctrl-C stops/)
  const { url } = await startConfiguredOperator(t, join(folder, 'bellwire.yaml'))
  const text = standIns.out()
  const commands = text.slice(text.indexOf('  LINK='), text.indexOf('\nNotifications that devices show'))
  assert.equal(commands.match(/curl/g)?.length, 3, text)
  const script = commands.replaceAll(/http:\/\/127\.0\.0\.1:7[01]01/g, url)
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { timeout: 20_000 })
  assert.match(stdout, /"push_id"/)
  assert.match(await standIns.line(/shows/), /fcm device 1 shows "Hello": "There"$/)
})

test('an existing configuration is not overwritten', async (t) => {
  const own = await temporary(t)
  await writeFile(join(own, 'bellwire.yaml'), 'operator: {}\n')
  const { code, err } = await run(['stand-ins', '--dir', own, '--port', '0'])
  assert.equal(code, 2)
  assert.match(err, /choose another folder with --dir/)
  assert.equal(await readFile(join(own, 'bellwire.yaml'), 'utf8'), 'operator: {}\n')
})

for (const offset of [0, 1, 4] as const) {
  test(`a port in use causes exit code 2 (port + ${offset})`, async (t) => {
    const { port } = await listenLocally(t, createServer())
    const { code, err } = await run(['stand-ins', '--dir', await temporary(t), '--port', `${port - offset}`])
    assert.equal(code, 2, err)
    assert.match(err, /is in use: choose others with --port/)
  })
}

test('stand-ins in a folder that cannot be written end with an error without a stack', async (t) => {
  const file = join(await temporary(t), 'file')
  await writeFile(file, '')
  const { code, err } = await run(['stand-ins', '--dir', join(file, 'new'), '--port', '0'])
  assert.match(err, /^bellwire: --dir cannot be written: ENOTDIR[^\n]*\n$/)
  assert.equal(code, 2)
})
