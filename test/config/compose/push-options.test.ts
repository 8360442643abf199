import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { group, type Settings } from '../../../src/base/runtime/setting.ts'
import { check } from '../../../src/sides/config/check.ts'
import { apnsOptions } from '../../../src/sides/config/compose/services/apns.ts'
import { fcmOptions } from '../../../src/sides/config/compose/services/fcm.ts'
import { pushDevices } from '../../../src/sides/config/compose/services/index.ts'
import { ConfigError, type Problem } from '../../../src/sides/config/problem.ts'
import { readYaml } from '../../../src/sides/config/read-yaml.ts'
import { apns } from '../../../src/subjects/providers/apns/apns.ts'
import { fcm } from '../../../src/subjects/providers/fcm/fcm.ts'
import type { PushService } from '../../../src/subjects/providers/push-service.ts'
import { devices } from '../../../src/subjects/settings/devices.ts'
import { apnsSettings } from '../../../src/subjects/settings/services/apns.ts'
import { fcmSettings } from '../../../src/subjects/settings/services/fcm.ts'
import { apnsStandIn } from '../../../src/tools/stand-ins/apns.ts'
import { fcmStandIn } from '../../../src/tools/stand-ins/fcm.ts'
import { pushTo } from '../../suites/push-service.ts'
import { contextOf } from '../../support/context.ts'
import { temporary } from '../../support/sides.ts'

const at = 'operator.push.devices.services[0]'

/** Validates a configuration that contains only these values. */
function configOf(settings: Settings, written: Record<string, unknown>) {
  const problems: Problem[] = []
  const raw = readYaml(JSON.stringify(written), 'bellwire.yaml', '/', problems)
  const value = check(group('', settings), raw, at, problems)
  assert.deepEqual(problems, [])
  return value as never
}

async function problemOf(options: Promise<unknown>): Promise<Problem> {
  const error = await options.then(
    () => assert.fail('the settings were accepted'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof ConfigError, String(error))
  assert.ok(!error.message.includes('canary'), error.message)
  return error.problems[0] as Problem
}

async function folder(t: TestContext) {
  const path = await temporary(t)
  return async (name: string, text: string) => {
    const file = join(path, name)
    await writeFile(file, text)
    return file
  }
}

test('fcm: settings and files are converted to a push service that delivers', async (t) => {
  const standIn = await fcmStandIn()
  const write = await folder(t)
  const credentials = await write('account.json', JSON.stringify(standIn.credentials))
  const ca = await write('ca.pem', standIn.ca as string)
  const config = configOf(fcmSettings, {
    credentials,
    ca,
    testing: { base_url: standIn.url },
    apps: ['com.example.a'],
    per_second: 500,
  })
  const service = fcm(await fcmOptions(config, at))
  assert.equal(service.perSecond, 500)
  t.after(async () => {
    await service.close?.()
    await standIn.close()
  })
  const device = { brand: '1', userId: '1001', kind: 'fcm_token', token: standIn.device(), linkedAt: '' } as const
  assert.equal(service.reaches({ ...device, app: 'com.example.b' }), false)
  assert.equal((await service.send(pushTo(device), contextOf())).category, 'successful')
})

test('the settings of a presentation are converted to its rules', async () => {
  const written = {
    source: 'registry',
    services: [{ provider: 'http', name: 'mine', url: 'https://push.example', body: { to: '{{token}}' } }],
    presentation: [
      { sound: 'a.caf', badge: 0, activities: [77], android_channel: 'c', android_priority: 'high' },
      { apps: ['com.example'], interruption_level: 'passive', category: 'OFFER', icon: 'i', url: 'app://x' },
    ],
  }
  const { presentation, services } = await pushDevices(configOf(devices.settings, written), 'operator.push.devices')
  assert.deepEqual(presentation, [
    { sound: 'a.caf', badge: 0, activities: ['77'], androidChannel: 'c', androidPriority: 'high' },
    { apps: ['com.example'], interruptionLevel: 'passive', category: 'OFFER', icon: 'i', url: 'app://x' },
  ])
  await Promise.all(services.map((service) => service.close?.()))
})

test('fcm: an error names the setting and the remedy, and contains no secret', async (t) => {
  const write = await folder(t)
  const of = (written: Record<string, unknown>) => problemOf(fcmOptions(configOf(fcmSettings, written), at))
  assert.partialDeepStrictEqual(await of({}), { path: `${at}.credentials` })
  assert.match((await of({})).remedy ?? '', /Firebase console/)
  const file = await write('account.json', '{"private_key":"canary"}')
  assert.match((await of({ credentials: file, credentials_json: '{}' })).description, /set only one of/)
  assert.match((await of({ credentials: '/no/such/file' })).description, /does not exist/)
  assert.match((await of({ credentials: file })).description, /project_id/)
  assert.partialDeepStrictEqual(await of({ credentials_json: 'canary' }), { path: `${at}.credentials_json` })
  const standIn = await fcmStandIn()
  t.after(() => standIn.close())
  const good = { credentials_json: JSON.stringify(standIn.credentials) }
  assert.partialDeepStrictEqual(await of({ ...good, ca: file }), { path: `${at}.ca` })
})

test('apns: settings and files are converted to a push service that delivers', async (t) => {
  const standIn = await apnsStandIn({ topics: ['com.example.app', 'com.example.b'] })
  const write = await folder(t)
  const { key, keyId, teamId } = standIn.credentials
  const config = configOf(apnsSettings, {
    key: await write('key.p8', key),
    key_id: keyId,
    team_id: teamId,
    topic: standIn.topic,
    apps: ['com.example.b'],
    environments: ['sandbox'],
    per_second: 20,
    testing: { sandbox_url: standIn.sandboxUrl },
    ca: await write('ca.pem', standIn.ca as string),
  })
  const service = apns(await apnsOptions(config, at))
  assert.equal(service.perSecond, 20)
  t.after(async () => {
    await service.close?.()
    await standIn.close()
  })
  const token = standIn.device({ environment: 'sandbox', app: 'com.example.b' })
  const device = { brand: '1', userId: '1001', kind: 'apns', app: 'com.example.b', token, linkedAt: '' } as const
  assert.equal(service.reaches({ ...device, environment: 'production' }), false)
  assert.equal((await service.send(pushTo(device), contextOf())).category, 'successful')
})

test('apns: an error names the setting and the remedy, and contains no secret', async (t) => {
  const write = await folder(t)
  const good = { key_id: 'ABCDE12345', team_id: 'ABCDE12345', topic: 'a' }
  const of = (written: Record<string, unknown>) =>
    problemOf(apnsOptions(configOf(apnsSettings, { ...good, ...written }), at))
  assert.partialDeepStrictEqual(await of({}), { path: `${at}.key` })
  assert.partialDeepStrictEqual(await of({ key_id: 'abc' }), { path: `${at}.key_id` })
  assert.partialDeepStrictEqual(await of({ team_id: 'canary' }), { path: `${at}.team_id` })
  const wrong = await of({ key: await write('key.p8', 'canary') })
  assert.equal(wrong.path, `${at}.key`)
  assert.match(wrong.description, /give the whole text of the key/)
  assert.partialDeepStrictEqual(await of({ key_text: 'canary' }), { path: `${at}.key_text` })
})

test('a push service for some brands keeps its counterparts and their limit', async (t) => {
  const standIn = await apnsStandIn()
  t.after(() => standIn.close())
  const { key, keyId, teamId } = standIn.credentials
  const written = { provider: 'apns', key_text: key, key_id: keyId, team_id: teamId, topic: standIn.topic }
  const compose = async (more: object) =>
    (await pushDevices(configOf(devices.settings, { services: [{ ...written, ...more }] }), 'operator.push.devices'))
      .services[0] as PushService
  const [all, some] = [await compose({}), await compose({ brands: ['1'] })]
  t.after(() => Promise.all([all.close?.(), some.close?.()]))
  const device = { brand: '1', userId: '1', kind: 'apns', token: 'a', linkedAt: '', environment: 'sandbox' } as const
  assert.equal(some.counterpartOf?.(device), all.counterpartOf?.(device))
  assert.deepEqual(
    [some.counterpartOf?.(device) === undefined, some.perCounterpart],
    [false, all.perCounterpart],
    'without them, a hanging environment would stop the others too',
  )
})
