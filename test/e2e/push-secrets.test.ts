// The same for FCM, APNs and Web Push: the stand-ins repeat a device's token in every kind of answer, and the operator, in its
// own process, must not expose it.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { makeVapidKeys } from '../../src/subjects/providers/web-push/vapid.ts'
import { writeFolder, writtenKeys } from '../../src/tools/cli/stand-ins/folder.ts'
import { type MadeDevice, serviceNames, startStandIns } from '../../src/tools/stand-ins/all.ts'
import { addressesOf, freePorts, run, start } from '../cli/bellwire.ts'
import { element, get, post, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'

/** Every status of the three tables of answers, and the statuses of a proxy or load balancer. */
const statuses = [400, 403, 404, 410, 413, 429, 500, 502, 503, 401]

test('no token or key of a push service is in logs, metrics, answers or the output of doctor', async (t) => {
  const folder = await temporary(t)
  const vapid = makeVapidKeys()
  const standIns = await startStandIns({ vapidPublicKey: vapid.publicKey })
  t.after(() => standIns.close())
  await writeFolder(folder, standIns, vapid)
  const config = join(folder, 'bellwire.yaml')
  const env = { ...freePorts, BELLWIRE_LOG_LEVEL: 'debug' }
  const operator = start(t, ['operator', '-c', config], env)
  const { url, admin } = await addressesOf(operator)

  const outputs: string[] = []
  const users = new Map<string, MadeDevice>()
  const link = async (user: string, device: MadeDevice): Promise<void> => {
    const record = { brand: '1', user_id: user, tokens: [device.link] }
    outputs.push((await post(`${admin}/admin/devices/link`, record, writtenKeys.service)).text)
    users.set(user, device)
  }
  const send = async (user: string): Promise<{ status: number; push_id?: string }> => {
    const message = element({ user_id: user }, { title: 'Hello', body: 'There' })
    const { status, text, body } = await post(`${url}/channels/push/single`, message, writtenKeys.platform)
    outputs.push(text)
    return { status, ...body }
  }

  let shown = ''
  for (const service of serviceNames) {
    // A new device for each answer, because some answers make the operator unlink it.
    for (const status of [...statuses, 0]) {
      const user = `user-of-${service}-${status}`
      const device = standIns.addDevice({ service })
      await link(user, device)
      const first = await until(async () => (await send(user)).push_id, {
        withinMs: 30_000,
        awaited: `${user} is reached`,
      })
      const stop =
        status === 0
          ? standIns[service].play({ reset: 'after' })
          : standIns[service].play({ answer: { status, headers: { 'retry-after': '0' }, body: echoAnswer(device) } })
      await send(user)
      stop()
      // An app or a service links a new token after the old one died.
      const next = standIns.addDevice({ service })
      await link(user, next)
      shown = await until(async () => (await send(user)).push_id, {
        withinMs: 30_000,
        awaited: `${user} is reached again`,
      })
      assert.ok(first)
    }
  }
  for (const path of ['/metrics', '/admin/summary', '/admin/devices/removed', '/admin/devices/removals'])
    outputs.push(await (await fetch(admin + path, { headers: { 'x-api-key': writtenKeys.service } })).text())
  const { body } = await get(`${admin}/admin/messages/${shown}`, writtenKeys.service)
  outputs.push(JSON.stringify({ ...body, request: '' }))
  // doctor sends with a token that does not exist.
  for (const service of serviceNames)
    standIns[service].play({ answer: { status: 403, body: '{"reason":"Forbidden"}' } })
  const doctor = await run(['doctor', '-c', config], {
    BELLWIRE_OPERATOR_PORT: new URL(url).port,
    BELLWIRE_OPERATOR_ADMIN_PORT: new URL(admin).port,
  })
  outputs.push(doctor.out, doctor.err)
  operator.child.kill('SIGTERM')
  const { code, out, err } = await operator.ended
  assert.equal(code, 0, err)
  outputs.push(out, err)

  assert.ok(out.includes('provider needs attention'))
  for (const status of statuses) assert.match(out, new RegExp(`"rule":"[^"]*${status}`), String(status))
  const secrets = secretTexts(standIns, vapid.privateKey)
  assert.ok(secrets.length > 100)
  for (const text of outputs) {
    for (const secret of secrets) {
      const at = text.indexOf(secret)
      assert.equal(at, -1, `${secret.slice(0, 12)}…: …${text.slice(Math.max(0, at - 300), at + 60)}…`)
    }
  }
})

/** An answer that repeats the token in the fields where the services put their messages. */
function echoAnswer({ token }: MadeDevice): string {
  const text = `Hello, There: ${token}`
  return JSON.stringify({ error: { code: 400, message: text, status: text }, reason: text, message: text, errno: 0 })
}

function secretTexts(standIns: Awaited<ReturnType<typeof startStandIns>>, vapidPrivate: string): string[] {
  const found = new Set([vapidPrivate, writtenKeys.platform, writtenKeys.service])
  for (const { service, token } of standIns.devices) {
    if (service !== 'web-push') found.add(token)
    else {
      const { endpoint, keys } = JSON.parse(token) as { endpoint: string; keys: { p256dh: string; auth: string } }
      found.add(endpoint.slice(endpoint.lastIndexOf('/') + 1))
      found.add(keys.p256dh)
      found.add(keys.auth)
    }
  }
  for (const service of serviceNames)
    for (const { headers } of standIns[service].arrivals) found.add((headers.authorization ?? '').replace(/^\w+ /, ''))
  for (const pem of [standIns.fcm.credentials.private_key, standIns.apns.credentials.key])
    for (const line of pem.split('\n')) if (line.length > 40) found.add(line)
  found.delete('')
  return [...found]
}
