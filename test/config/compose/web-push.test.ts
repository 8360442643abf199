import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { group, holdsSecret } from '../../../src/base/runtime/setting.ts'
import { check } from '../../../src/sides/config/check.ts'
import { webPushOptions } from '../../../src/sides/config/compose/services/web-push.ts'
import type { Problem } from '../../../src/sides/config/problem.ts'
import { readYaml } from '../../../src/sides/config/read-yaml.ts'
import { makeVapidKeys } from '../../../src/subjects/providers/web-push/vapid.ts'
import { webPush } from '../../../src/subjects/providers/web-push/web-push.ts'
import { type WebPushConfig, webPushSettings } from '../../../src/subjects/settings/services/web-push.ts'
import { makeCertificate } from '../../../src/tools/stand-ins/certificate.ts'
import { temporary } from '../../support/sides.ts'

const setting = group('', webPushSettings)

function read(yaml: string): { readonly config: WebPushConfig; readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  const config = check(setting, readYaml(yaml, 'bellwire.yaml', '/', problems), 'service', problems)
  return { config, problems }
}

const { publicKey, privateKey } = makeVapidKeys()
const minimal = `
public_key: ${publicKey}
private_key: ${privateKey}
subject: mailto:ops@example.com
`

test('only the keys and the subject are required', async () => {
  const { config, problems } = read(minimal)
  assert.deepEqual(problems, [])
  const options = await webPushOptions(config, 'service')
  assert.deepEqual(options, {
    name: 'web-push',
    publicKey,
    privateKey,
    subject: 'mailto:ops@example.com',
    hosts: [],
    origins: {},
    concurrency: 100,
  })
  assert.equal(webPush(options).name, 'web-push')
})

test('apps, hosts, origins, concurrency and connections are passed on', async (t) => {
  const ca = join(await temporary(t), 'ca.pem')
  const { cert } = makeCertificate()
  await writeFile(ca, cert)
  const { config, problems } = read(`${minimal}
name: shop
apps: [shop.example]
hosts: ['*.push.example.com:8443']
testing:
  origins: [{from: "https://fcm.googleapis.com", to: "http://127.0.0.1:7010"}]
per_second: 50
concurrency: 20
ca: ${ca}
proxy: http://proxy.example:3128
`)
  assert.deepEqual(problems, [])
  const options = await webPushOptions(config, 'service')
  assert.equal(webPush(options).perSecond, 50)
  assert.partialDeepStrictEqual(options, {
    name: 'shop',
    apps: ['shop.example'],
    hosts: ['*.push.example.com:8443'],
    origins: { 'https://fcm.googleapis.com': 'http://127.0.0.1:7010' },
    perSecond: 50,
    concurrency: 20,
    ca: cert,
    proxy: 'http://proxy.example:3128',
  })
})

test('invalid settings are refused with a remedy, and the private key is a secret', () => {
  const { problems } = read(
    'public_key: x\nprivate_key: my-secret\nsubject: me\nhosts: [localhost]\ntesting: {origins: [{from: x, to: y}]}',
  )
  assert.deepEqual(
    problems.map(({ path }) => path),
    [
      'service.public_key',
      'service.private_key',
      'service.subject',
      'service.hosts[0]',
      'service.testing.origins[0].from',
      'service.testing.origins[0].to',
    ],
  )
  assert.doesNotMatch(JSON.stringify(problems), /my-secret/)
  assert.match(problems[0]?.remedy ?? '', /bellwire vapid/)
  assert.ok(holdsSecret(setting))
})

test('keys that are not a pair are refused, and the error does not contain them', async () => {
  const { config } = read(minimal.replace(publicKey, makeVapidKeys().publicKey))
  await assert.rejects(
    webPushOptions(config, 'operator.push.devices.services[0]'),
    ({ message }: Error) =>
      /services\[0\]\.private_key: .*does not belong/.test(message) && !message.includes(privateKey),
  )
})
