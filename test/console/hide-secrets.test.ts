// Secrets in texts that the console shows.

import assert from 'node:assert/strict'
import test from 'node:test'
import { hideSecrets } from '../../src/sides/console/hide-secrets.ts'

const nested = (value: unknown, levels: number): unknown =>
  levels === 0 ? value : nested(JSON.stringify(value), levels - 1)

const secret = 's3cret'
const values = {
  'a text': secret,
  'a text with quotes, backslashes and brackets': `\\]"}\\"${secret}\\`,
  'a list with a bracket in a text': ['a]', secret],
  'a list of lists': [['a'], [secret]],
  'a list of objects': [{ a: 1, token: 'b' }, { value: secret }],
  'an object': { fcm: { value: secret } },
}
for (const [title, value] of Object.entries(values))
  test(`${title} is hidden whole, also in a text that is JSON itself`, () => {
    for (const levels of [0, 1, 2])
      for (const space of [0, 2]) {
        const around = (auth: unknown) => nested({ before: 'kept', auth, tokens: auth, after: ['kept too'] }, levels)
        const shown = hideSecrets(JSON.stringify({ around: around(value) }, null, space))
        assert.deepEqual(JSON.parse(shown), { around: around('[hidden]') })
      }
  })

test('a text that is cut off in a secret shows nothing of it', () => {
  for (const text of [`{"token":"${secret}`, `{"tokens":[["a"],"${secret}`, `{"secrets":{"a":"${secret}`])
    assert.doesNotMatch(hideSecrets(text), /s3cret/)
  const inText = { answer: `{"token":"${secret}`, after: 'kept' }
  assert.deepEqual(JSON.parse(hideSecrets(JSON.stringify(inText))), { answer: '{"token":"[hidden]"', after: 'kept' })
})

test('a text with many backslashes takes no quadratic time', () => {
  const text = `{"token":"a"}${'\\'.repeat(1_000_000)}`
  assert.equal(hideSecrets(text), text.replace('"a"', '"[hidden]"'))
})
