import assert from 'node:assert/strict'
import test from 'node:test'
import { faultsOf } from '../../../src/subjects/providers/http/faults.ts'
import { httpProvider, httpService } from '../../../src/subjects/providers/http/http.ts'
import type { HttpOptions } from '../../../src/subjects/providers/http/options.ts'

const url = 'https://api.example/send'
const secrets = [
  { name: 'app_id', value: 'a' },
  { name: 'api_key', value: 'k' },
]

test('faults of the options are reported before the first message is sent', () => {
  const cases: readonly (readonly [HttpOptions, RegExp])[] = [
    [{}, /^url: missing/],
    [{ url: 'ftp://x/y' }, /^url: expected a URL/],
    [{ url: 'https://{{user_id}}.example/x' }, /^url: expected .*after the host only/s],
    [{ url: 'https://api.example{{user_id}}/x' }, /^url: expected/],
    [{ url: 'https://u:p@api.example/' }, /^url: contains a user name or password.*basic/s],
    [{ url: 'https://api.example/a b' }, /^url: contains characters/],
    [{ url: 'https://api.example/a#b' }, /^url: contains characters/],
    [
      { url, body: { to: '{{userid}}' } },
      /^body\.to: there is no placeholder \{\{userid}}.*did you mean \{\{user_id}}/s,
    ],
    [{ url, body: ['{{activity.user}}'] }, /^body\[0]: .*did you mean \{\{activity\.user_id}}/s],
    [{ url, body: '{{wholly_wrong_name}}' }, /known are: user_id, brand/],
    [{ url, body: '{{token}}' }, /available per device only/],
    [{ url, body: '{{secret.key}}' }, /add \{name: key, value: …} under secrets/],
    [{ url, body: '{{user_id' }, /does not begin a placeholder/],
    [{ url, body: { '{{user_id}}': 1 } }, /does not begin a placeholder.*in values only/s],
    [{ url, headers: [{ name: 'X Y', value: '1' }] }, /not a valid header name/],
    [{ url, headers: [{ name: 'Host', value: 'evil' }] }, /set by the HTTP client/],
    [{ url, headers: [{ name: 'X-Y', value: 'a\r\nX-Z: 1' }] }, /not allowed in a header/],
    [{ url, headers: [{ name: 'X-Y', value: '{{titel}}' }] }, /did you mean \{\{title}}/],
    [{ url, auth: { kind: 'header', name: 'x', value: '{{user_id}}' } }, /^auth: there is no placeholder/],
    [
      { url, headers: [{ name: 'X-Api-Key', value: 'abcdefabcdef0123' }] },
      /^headers\.X-Api-Key: contains a credential/,
    ],
    [
      { url, auth: { kind: 'oauth2', tokenUrl: 'here', clientId: 'c', clientSecret: 's' } },
      /^auth: the token endpoint is not a URL/,
    ],
    [{ url, auth: { kind: 'standard-webhooks', secret: 'whsec_c2hvcnQ=' } }, /^auth: expected whsec_/],
    [{ url, rules: [{ when: { status: 'all' }, means: 'failed' }] }, /^rules\[0]: status/],
    [{ url, body: [1], overrides: ['x'] }, /^overrides: the body is not an object/],
    [{ url, userId: '{{title}}' }, /^user_id: \{\{title}} does not identify/],
    [{ preset: 'onesignl' }, /^preset: .*did you mean onesignal/s],
    [{ preset: 'onesignal', secrets: [{ name: 'app_id', value: 'a' }] }, /auth: .*secret\.api_key/],
  ]
  for (const [options, pattern] of cases) {
    const reports = faultsOf(options, 'user').map(({ at, description, remedy }) => `${at}: ${description} ${remedy}`)
    assert.match(reports.join('\n'), pattern)
    assert.throws(() => httpProvider(options), /: /)
  }
})

test('headers for keys may contain placeholders', () => {
  const headers = [
    { name: 'Idempotency-Key', value: '{{delivery_id}}' },
    { name: 'X-Api-Key', value: 'Key {{secret.api_key}}' },
  ]
  assert.deepEqual(faultsOf({ url, headers, secrets }, 'user'), [])
})

test('device mode has the placeholders token and app, but no activity', () => {
  assert.deepEqual(faultsOf({ url, body: ['{{token}}', '{{app}}'] }, 'device'), [])
  assert.throws(() => httpService({ url, body: '{{activity.id}}' }), /available per user only/)
  assert.throws(
    () => httpService({ url, name: 'My Pager' }),
    /^Error: name: My Pager cannot be a part of a device's kind/,
  )
})

test('options that do not distinguish the users of two brands are refused', () => {
  const one = { preset: 'onesignal', secrets }
  assert.deepEqual(faultsOf(one, 'user', ['1']), [])
  assert.match(faultsOf(one, 'user', ['1', '2'])[0]?.remedy ?? '', /user_id: "\{\{brand}}-\{\{user_id}}"/)
  assert.deepEqual(faultsOf({ ...one, userId: '{{brand}}-{{user_id}}' }, 'user', ['1', '2']), [])
  assert.deepEqual(faultsOf({ url: `${url}/{{activity.brand_id}}`, body: '{{user_id}}' }, 'user', ['1', '2']), [])
  assert.deepEqual(faultsOf({ url, body: '{{token}}' }, 'device', ['1', '2']), [])
})
