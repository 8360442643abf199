import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { operatorOptions } from '../../src/sides/config/compose/compose.ts'
import { loadConfig } from '../../src/sides/config/load.ts'
import { printConfig } from '../../src/sides/config/print.ts'
import type { OperatorConfig, PlatformConfig } from '../../src/sides/config/table.ts'
import { temporary } from '../support/sides.ts'
import { loadText, problemsOf as problemsOfText } from './load-text.ts'

const secret = `whsec_${Buffer.from('secret-of-the-webhook-24').toString('base64')}`

const withStatus = (status: string): string => `
operator:
  keys: [{name: platform, key: operator-key-000000000001, brands: [1, 2, 3]}]
  suppression: none
  status: ${status}
`
const load = (t: TestContext, status: string) => loadText(t, withStatus(status))
const problemsOf = async (t: TestContext, status: string) =>
  (await problemsOfText(t, withStatus(status))).map(({ path, description }) => `${path}: ${description}`)

test('each brand has its webhook, in our form or in that of the vendor, and no secret is printed', async (t) => {
  const config = await load(
    t,
    `
    webhooks:
      - {brand: 1, to: {webhook: https://platform.example/api, secrets: [${secret}], max: 10, connections: 2}, timeout: 5s}
      - {brand: 2, to: {callback: https://platform.example/webhook/callback/firebase/, auth: {basic: fasttrack, password: secret-of-callback}}, retry: {most: 1min}}
      - {brand: 3, to: {template: 'https://crm.example/{{push_id}}', method: PATCH, auth: {bearer: secret-of-template}, body: {event: '{{status}}'}, statuses: [{status: clicked}]}}`,
  )
  const { status } = await operatorOptions(config.operator as OperatorConfig)
  const webhooks = status?.webhooks ?? []
  t.after(() => Promise.all(webhooks.map(({ sender }) => sender.close())))
  assert.equal(status?.polling, true)
  assert.deepEqual(
    webhooks.map(({ brand, sender, timeoutMs, retry }) => [
      brand,
      sender.name,
      sender.max,
      sender.concurrency,
      timeoutMs,
      retry?.mostMs,
    ]),
    [
      ['1', 'webhook', 10, 2, 5_000, 300_000],
      ['2', 'callback', 1, 4, 15_000, 60_000],
      ['3', 'template', 1, 4, 15_000, 300_000],
    ],
  )
  assert.doesNotMatch(printConfig(config), new RegExp(`${secret.slice(6, 20)}|secret-of`))
})

test('a platform that delivers itself takes receipts of browsers and providers, by the same settings', async (t) => {
  const own = (app: string) => `
platform:
  keys: [{name: crm, key: crm-key-0000000000000001, scopes: [enqueue]}]
  lanes: [{brand: 1, channel: push, to: own}]
  own:
    push: {provider: recording}
    status:
      receipts: https://platform.example/
      receipts_from: [{name: pager, secret: Bearer of-the-pager, rules: [{at: /type, equals: opened, status: opened}]}]
    ${app}`
  const file = join(await temporary(t), 'bellwire.yaml')
  const platformOf = async (app: string) => {
    await writeFile(file, own(app))
    return (await loadConfig(file, {})).platform as PlatformConfig
  }
  await assert.rejects(platformOf(''), /platform\.own\.status\.receipts: needs platform\.own\.app/)
  const config = await platformOf('app: {secrets: [a-secret-of-the-app-that-is-32-characters]}')
  assert.deepEqual(config.own?.status.receiptsFrom[0]?.rules, [{ at: '/type', equals: 'opened', status: 'opened' }])
})

test('without the section no statuses are recorded', async (t) => {
  const options = await operatorOptions((await load(t, '')).operator as OperatorConfig)
  assert.equal(options.status, undefined)
})

test('a wrong secret, a second webhook of a brand, a wrong backoff and clear text to other hosts are refused', async (t) => {
  const to = `to: {webhook: https://platform.example, secrets: [${secret}]}`
  const [wrong] = await problemsOf(
    t,
    '{webhooks: [{brand: 1, to: {webhook: https://a.example, secrets: [whsec_short]}}]}',
  )
  assert.match(wrong as string, /^operator\.status\.webhooks\[0\]\.to\.secrets\[0\]: /)
  assert.doesNotMatch(wrong as string, /whsec_short/)
  assert.deepEqual(await problemsOf(t, `{webhooks: [{brand: 1, ${to}}, {brand: 1, ${to}}]}`), [
    'operator.status.webhooks[1]: the statuses of this brand are sent already',
  ])
  assert.deepEqual(await problemsOf(t, `{webhooks: [{brand: 1, ${to}, retry: {first: 2min, most: 1s}}]}`), [
    'operator.status.webhooks[0].retry: the first backoff is longer than the longest',
  ])
  assert.deepEqual(
    await problemsOf(t, "{webhooks: [{brand: 1, to: {template: 'https://a.example/', body: {a: '{{stats}}'}}}]}"),
    ['operator.status.webhooks[0].to.body.a: there is no placeholder {{stats}}'],
  )
  const [clear] = await problemsOf(t, `{webhooks: [{brand: 1, ${to.replace('https', 'http')}}]}`)
  assert.match(clear as string, /^operator\.status\.webhooks\[0\]\.to\.webhook: sends credentials .* without TLS/)
  assert.equal(
    (await problemsOf(t, '{webhooks: [{brand: 1, to: {webhook: https://a.example, secrets: []}}]}')).length,
    1,
  )
})
