import assert from 'node:assert/strict'
import test from 'node:test'
import { idText, isIntegerText, isPrintable } from '../../src/contract/ids.ts'

test('an integer has only digits and is at most 2^63-1', () => {
  for (const [text, expected] of [
    ['0', true],
    ['7', true],
    ['9007199254740993', true],
    ['999999999999999999', true],
    ['9223372036854775799', true],
    ['9223372036854775807', true],
    ['9223372036854775808', false],
    ['9223372036854775810', false],
    ['9999999999999999999', false],
    ['10000000000000000000', false],
    ['-1', false],
    ['1.0', false],
    ['1e3', false],
    ['', false],
    ['"1"', false],
  ] as const) {
    assert.equal(isIntegerText(text), expected, text)
  }
  assert.equal(isIntegerText('01'), false)
})

test('an id must not contain control characters of ASCII or U+0080 to U+009F', () => {
  for (const [text, expected] of [
    ['1001', true],
    ['jörg@example.com', true],
    ['日本', true],
    ['a\u001bb', false],
    ['a\u009b31m', false],
    ['\u0080', false],
    ['\u00a0', true],
  ] as const)
    assert.equal(isPrintable(text), expected, JSON.stringify(text))
})

test('ids are compared as text: an integer equals a string of the same digits', () => {
  assert.equal(idText('5'), idText('"5"'))
  assert.equal(idText('"\\u0035"'), '5')
  assert.notEqual(idText('5'), idText('5.0'))
})
