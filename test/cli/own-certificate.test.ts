// The commands that call a side of the configuration on this machine, at an operator with TLS: its certificate has only its public name.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { makeVapidKeys } from '../../src/subjects/providers/web-push/vapid.ts'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { startWebPushStandIn } from '../../src/tools/stand-ins/web-push.ts'
import { startConfiguredOperator } from '../support/configured-sides.ts'
import { issueCertificate } from '../support/issued-certificate.ts'
import { temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { run, start } from './bellwire.ts'

const origin = 'https://fcm.googleapis.com'

async function prepare(t: TestContext) {
  const folder = await temporary(t)
  const config = join(folder, 'bellwire.yaml')
  const standIn = await startWebPushStandIn({ origin })
  t.after(() => standIn.close())
  const keys = makeVapidKeys()
  await writeFile(
    config,
    `operator:
  port: 0
  store: sqlite:operator.db
  tls: {certificate: cert.pem, key: key.pem}
  keys: [{name: platform, key: operator-key-000000000001, brands: [1]}]
  admin_keys: [{name: office, key: office-key-00000000000001, scopes: [counts, read]}]
  app: {secrets: [the-secret-of-the-subscriber-tokens]}
  suppression: none
  push:
    devices:
      source: registry
      services:
        - provider: web-push
          public_key: ${keys.publicKey}
          private_key: ${keys.privateKey}
          subject: mailto:ops@example.com
          testing: {origins: [{from: "${origin}", to: "${standIn.url}"}]}
`,
  )
  return {
    config,
    standIn,
    token: standIn.subscribe({ applicationServerKey: keys.publicKey }),
    async write({ cert, key }: { readonly cert: string; readonly key: string }) {
      await writeFile(join(folder, 'cert.pem'), cert)
      await writeFile(join(folder, 'key.pem'), key)
    },
  }
}

test('push --subscribe, explain and doctor reach an operator by its certificate, whatever name it has; not with another certificate', async (t) => {
  const { config, standIn, token, write } = await prepare(t)
  await write(issueCertificate('push.operator.example'))
  const { url } = await startConfiguredOperator(t, config)
  assert.match(url, /^https:/)
  const ports = { BELLWIRE_OPERATOR_PORT: new URL(url).port }

  const push = start(t, ['push', '-c', config, '--user', '1001', '--subscribe', '0', '--title', 'First'], ports)
  const page = await until(() => /http:\S+(?=\n)/.exec(push.err())?.[0], { awaited: 'the page', withinMs: 60_000 })
  const headers = { 'content-type': 'application/json' }
  const linked = await fetch(page, { method: 'POST', headers, body: token })
  assert.equal(linked.status, 200, await linked.text())
  const { code, out, err } = await push.ended
  assert.equal(code, 0, err)
  assert.match(out, /\nOperator +successful after 1 attempt\n/)
  assert.deepEqual(
    standIn.shown(token).map(({ title }) => title),
    ['First'],
  )

  const doctor = async (): Promise<{ readonly ok: boolean; readonly description: string }> => {
    const { findings } = JSON.parse((await run(['doctor', '--json', '-c', config], ports)).out)
    return findings.find(({ setting }: { readonly setting: string }) => setting === 'operator.port')
  }
  assert.match((await doctor()).description, /^running on 127\.0\.0\.1:\d+, ready$/)

  await write(makeCertificate())
  const other = await doctor()
  assert.deepEqual([other.ok, /does not answer HTTPS requests: its certificate/.test(other.description)], [false, true])
  const refused = await run(['push', '-c', config, '--user', '1001', '--subscribe', '0'], ports)
  assert.equal(refused.code, 3)
  assert.match(
    refused.err,
    /^bellwire: the operator at https:\S+ was not reached: its certificate is not that of operator\.tls\.certificate; reload the configuration of the operator\n$/,
  )
})

test('doctor says that the certificate of the running operator has expired, and not that its port is in use', async (t) => {
  const { config, write } = await prepare(t)
  await write(issueCertificate('push.operator.example', -1))
  const { url } = await startConfiguredOperator(t, config)
  const { code, out } = await run(['doctor', '-c', config], { BELLWIRE_OPERATOR_PORT: new URL(url).port })
  assert.equal(code, 1)
  assert.match(
    out,
    /operator\.port: .* its certificate is refused: certificate has expired\n {4}replace the files of operator\.tls, and reload/,
  )
})

test('push --subscribe serves no page while the operator does not run', async (t) => {
  const { config, write } = await prepare(t)
  await write(makeCertificate())
  const port = { BELLWIRE_OPERATOR_PORT: '1' }
  const { code, err } = await run(['push', '-c', config, '--user', '1001', '--subscribe', '0'], port)
  assert.equal(code, 3)
  assert.match(err, /^bellwire: .*ECONNREFUSED.*; start it with: bellwire operator\n$/)
})
