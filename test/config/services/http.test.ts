import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { httpOptions } from '../../../src/sides/config/http-options.ts'
import { printConfig, secretsOf } from '../../../src/sides/config/print.ts'
import type { Config } from '../../../src/sides/config/table.ts'
import { temporary } from '../../support/sides.ts'
import { loadText, refused } from '../load-text.ts'

const withPush = (push: string, brands = '[1]'): string => `
operator:
  keys: [{name: platform, key: operator-key-000000000001, brands: ${brands}}]
  suppression: none
  push:
    provider: http
${push.replaceAll(/^/gm, '    ')}
`
function pushOf({ operator }: Config) {
  assert.ok(operator?.push?.is === 'http')
  return operator.push
}

const whole = `
per_second: 30
url: https://push.example/users/{{user_id}}
secrets: [{name: k, value: canary-named-secret}]
auth: {oauth2: "https://id.example/token", client_id: c, client_secret: canary-client-secret}
headers: [{name: X-Key, value: "{{secret.k}}"}]
body: {to: "{{user_id}}", ttl: 5, quoted: "5", yes: true, word: true story, none: ~, deep: [1.5, {a: "{{data}}"}]}
rules:
  - {when: {status: 4xx, body_path: /code, equals: 7}, means: gone, reason: not known}
  - {when: {status: [200, 202], body_path: /id, absent: true}, means: failed}
`

test('the body is JSON written as YAML, and the settings become options of the provider', async (t) => {
  const options = httpOptions(pushOf(await loadText(t, withPush(whole))))
  assert.partialDeepStrictEqual(options, {
    url: 'https://push.example/users/{{user_id}}',
    auth: {
      kind: 'oauth2',
      tokenUrl: 'https://id.example/token',
      clientId: 'c',
      clientSecret: 'canary-client-secret',
      credentials: 'header',
    },
    body: {
      to: '{{user_id}}',
      ttl: 5,
      quoted: '5',
      yes: true,
      word: 'true story',
      none: null,
      deep: [1.5, { a: '{{data}}' }],
    },
    userId: '{{user_id}}',
    headers: [{ name: 'X-Key', value: '{{secret.k}}' }],
    rules: [
      { when: { status: ['4xx'], body_path: '/code', equals: '7' }, means: 'gone', reason: 'not known' },
      { when: { status: ['200', '202'], body_path: '/id', absent: true }, means: 'failed' },
    ],
    secrets: [{ name: 'k', value: 'canary-named-secret' }],
    overrides: [],
    perSecond: 30,
    concurrency: 64,
  })
})

test('each kind of auth can be written on one line', async (t) => {
  const written = {
    none: { kind: 'none' },
    '{header: X-Key, value: v}': { kind: 'header', name: 'X-Key', value: 'v' },
    '{basic: ann, password: p}': { kind: 'basic', user: 'ann', password: 'p' },
    '{bearer: t}': { kind: 'bearer', token: 't' },
    '{standard_webhooks: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}': {
      kind: 'standard-webhooks',
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    },
  }
  for (const [auth, options] of Object.entries(written)) {
    const push = pushOf(await loadText(t, withPush(`url: https://x.example/\nauth: ${auth}`)))
    assert.deepEqual(httpOptions(push).auth, options)
  }
})

test('the secrets of the provider are never printed, and the log masks them', async (t) => {
  const config = await loadText(t, withPush(whole))
  assert.doesNotMatch(printConfig(config), /canary/)
  assert.match(printConfig(config), /ttl: 5/)
  for (const secret of ['canary-named-secret', 'canary-client-secret']) assert.ok(secretsOf(config).includes(secret))
})

test('environment variables set the body as YAML or JSON, and secrets from files', async (t) => {
  const file = join(await temporary(t), 'secret')
  await writeFile(file, 'from-a-file\n')
  const push = pushOf(
    await loadText(t, withPush(whole), {
      BELLWIRE_OPERATOR_PUSH_BODY: '{"to": ["{{user_id}}"], "n": 1}',
      BELLWIRE_OPERATOR_PUSH_SECRETS_0_VALUE_FILE: file,
      BELLWIRE_OPERATOR_PUSH_AUTH: '{bearer: t}',
    }),
  )
  assert.deepEqual(push.body, { to: ['{{user_id}}'], n: 1 })
  assert.deepEqual(push.secrets, [{ name: 'k', value: 'from-a-file' }])
  assert.deepEqual(push.auth, { is: 'bearer', token: 't' })
})

test('invalid templates, rules and credentials are reported with their path when the configuration is loaded', async (t) => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['url: https://x.example/\nbody: {to: "{{userid}}"}', 'operator.push.body.to', /did you mean \{\{user_id}}/],
    ['url: https://x.example/\nbody: {to: {{user_id}}}', 'operator.push.body.to', /quote it/],
    [
      'url: https://x.example/\nbody: {n: 12345678901234567890}',
      'operator.push.body.n',
      /quote it, so that it is a text/,
    ],
    ['url: https://x.example/\nrules: [{when: {status: all}, means: failed}]', 'operator.push.rules[0]', /docs\/push/],
    ['url: https://x.example/\nrules: [{when: {status: 200}, means: gon}]', 'operator.push.rules[0].means', /^$/],
    ['preset: onesignal', 'operator.push.auth', /add \{name: api_key/],
    ['body: {}', 'operator.push.url', /preset: onesignal/],
    ['url: https://x.example/\nauth: {barer: t}', 'operator.push.auth', /bearer/],
  ]
  for (const [push, path, remedy] of cases) {
    const problems = await refused(t, withPush(push))
    const found = problems.find((problem) => problem.path === path)
    assert.ok(found, `${push}: ${JSON.stringify(problems)}`)
    assert.match(found.remedy ?? '', remedy)
  }
})

test('two brands with indistinguishable user ids are refused', async (t) => {
  const push = 'url: https://x.example/\nbody: {to: "{{user_id}}"}'
  const [problem] = await refused(t, withPush(push, '[1, 2]'))
  assert.equal(problem?.path, 'operator.push.user_id')
  await loadText(t, withPush(`${push}\nuser_id: "{{brand}}-{{user_id}}"`, '[1, 2]'))
})
