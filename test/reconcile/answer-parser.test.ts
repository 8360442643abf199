import assert from 'node:assert/strict'
import test from 'node:test'
import type { Texts } from '../../src/base/store/scratch.ts'
import { createAnswerParser } from '../../src/subjects/reconcile/answer-parser.ts'
import { AnswerRefused, type RefusalReason } from '../../src/subjects/reconcile/answer-refused.ts'

/** Parses an answer that arrives in chunks of this size. */
function parseChunks(answer: string | Buffer, size: number, maxIdBytes = 20_000): { ids: string[]; timestamp: number } {
  const bytes = Buffer.from(answer as string)
  const parser = createAnswerParser(maxIdBytes)
  const ids: string[] = []
  const collectIds = (pieces: Iterable<Texts>): void => {
    for (const piece of pieces)
      ids.push(...('texts' in piece ? piece.texts : Buffer.from(piece.lines).toString().slice(0, -1).split('\n')))
  }
  for (let at = 0; at < bytes.length; at += size) collectIds(parser.push(bytes.subarray(at, at + size)))
  const { texts, timestamp } = parser.end()
  collectIds(texts)
  assert.equal(parser.ids, ids.length)
  return { ids: ids.toSorted(), timestamp }
}

const at = Date.UTC(2020, 0, 1, 10)
const stamp = '"timestamp":"2020-01-01T10:00:00Z"'
const unusualIds = [
  '"',
  '\\',
  '\\\\"',
  'a/b',
  'tab\tline\n',
  'ü',
  '😀',
  '\u2028',
  '{"users":["no"]}',
  '],',
  'error',
  'x'.repeat(10_000),
]

test('the result does not depend on the chunks: they may end inside an id, an escape, a surrogate pair or a character', () => {
  const escapedOnly = JSON.stringify(unusualIds).replace(
    /[^\x20-\x7e]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  for (const users of [JSON.stringify(unusualIds), escapedOnly, '["\\u0061\\/\\b\\f", "b"]', '["1001","1002"]', '[]']) {
    const expected = (JSON.parse(users) as string[]).toSorted()
    const answer = `{"users":${users},${stamp}}`
    for (const size of [1, 2, 3, 5, 7, 64, 4_096, 1 << 20])
      assert.deepEqual(parseChunks(answer, size), { ids: expected, timestamp: at })
  }
})

test('members may come in any order, with white space and unknown members, and a null error is no error', () => {
  for (const answer of [
    `{${stamp},"users":["1","2"]}`,
    ` \n{ "users" :\t[ "1" ,\r\n"2" ] , ${stamp} } \n`,
    `{"more":{"users":["x"],"a":[1,{"b":"]}"}]},"users":["1","2"],"n":-1.5e3,"t":true,${stamp}}`,
    `{"\\u0075sers":["1","2"],${stamp},"error":null}`,
    `\ufeff{"users":["1","2"],${stamp}}`,
  ])
    for (const size of [1, 3, 1_000])
      assert.deepEqual(parseChunks(answer, size), { ids: ['1', '2'], timestamp: at }, answer)
})

const refused: readonly [answer: string | Buffer, why: RefusalReason, message: RegExp][] = [
  ['{"error":"timeout"}', 'error', /^timeout$/],
  [`{"users":["1"],"error":"the query failed"}`, 'error', /the query failed/],
  [`{"error":{"code":1},"users":["1"],${stamp}}`, 'error', /\{"code":1\}/],
  [`{"users":["1"],${stamp},"error":""}`, 'error', /^$/],
  ['', 'cut_short', /empty/],
  ['{', 'cut_short', /inside its object/],
  ['{"users":["1","10', 'cut_short', /after 1 ids, inside users/],
  ['{"users":["1","10\\', 'cut_short', /after 1 ids/],
  ['{"users":["1","10\\u00', 'cut_short', /after 1 ids/],
  ['{"users":["1","2"]', 'cut_short', /inside its object/],
  ['{"users":["1","2"],"timestamp":"2020-01-01T10:00:00Z"', 'cut_short', /inside its object/],
  ['<html>busy</html>', 'not_json', /begins with "<"/],
  ['["1"]', 'wrong_content', /begins with "\["/],
  ['"1"', 'wrong_content', /begins with/],
  ['{"users":["1" "2"]}', 'not_json', /after users\[0\] there is "\\""/],
  ['{"users":["1",]}', 'not_json', /at users\[1\] there is "\]"/],
  ['{"users":[,"1"]}', 'not_json', /at users\[0\] there is ","/],
  [`{"users":["1"]${stamp}}`, 'not_json', /./],
  [`{"users":["1"],${stamp},}`, 'not_json', /./],
  [`{"users":["1"],${stamp}} {}`, 'not_json', /text after its end/],
  [`{"users":["1"],"n":1 2,${stamp}}`, 'not_json', /./],
  [`{"users":["1"]],${stamp}}`, 'not_json', /./],
  ['{"users":["a\nb"]}', 'not_json', /control character/],
  [`{"users":["\\x"],${stamp}}`, 'not_json', /users\[0\]/],
  [Buffer.concat([Buffer.from('{"users":["a'), Buffer.from([0xff]), Buffer.from(`"],${stamp}}`)]), 'not_json', /UTF-8/],
  [
    Buffer.concat([Buffer.from('{"users":["\\n'), Buffer.from([0xc3]), Buffer.from(`"],${stamp}}`)]),
    'not_json',
    /UTF-8/,
  ],
  [`{"users":[1],${stamp}}`, 'wrong_content', /users\[0\] is a number/],
  [`{"users":["1",null],${stamp}}`, 'wrong_content', /users\[1\] is not a string/],
  [`{"users":[["1"]],${stamp}}`, 'wrong_content', /an array/],
  [`{"users":[{"id":"1"}],${stamp}}`, 'wrong_content', /an object/],
  [`{"users":[""],${stamp}}`, 'wrong_content', /empty string/],
  [`{"users":["a\\u0000"],${stamp}}`, 'wrong_content', /U\+0000/],
  [`{"users":["\\ud83d"],${stamp}}`, 'wrong_content', /half of a surrogate pair/],
  [`{"users":"1",${stamp}}`, 'wrong_content', /users is not an array/],
  [`{${stamp}}`, 'wrong_content', /no users/],
  [`{"users":["1"],"users":["2"],${stamp}}`, 'wrong_content', /member "users" occurs twice/],
  [`{"users":["1"],${stamp},${stamp}}`, 'wrong_content', /member "timestamp" occurs twice/],
  [
    `{"users":["1"],"x":"${'y'.repeat(70_000)}",${stamp}}`,
    'wrong_content',
    /members other than users are longer than 65536 bytes/,
  ],
  ['{"users":["1"]}', 'timestamp', /no timestamp/],
  ['{"users":["1"],"timestamp":1577872800}', 'timestamp', /cannot be read: 1577872800/],
  ['{"users":["1"],"timestamp":"yesterday"}', 'timestamp', /cannot be read/],
  [`{"users":["${'x'.repeat(20_001)}"],${stamp}}`, 'too_long', /users\[0\] is longer than 20000 bytes/],
  [`{"users":["1","${'\\n'.repeat(20_001)}"],${stamp}}`, 'too_long', /users\[1\]/],
  [`{"users":["${'x'.repeat(500_000)}`, 'too_long', /users\[0\]/],
]

for (const [answer, why, message] of refused) {
  test(`refused as ${why}: ${String(answer).slice(0, 60).replaceAll('\n', ' ')}`, () => {
    for (const size of [1, 6, 1 << 20]) {
      assert.throws(
        () => parseChunks(answer, size),
        (error) => {
          assert.ok(error instanceof AnswerRefused, String(error))
          assert.equal(error.why, why, error.message)
          assert.match(error.message, message)
          return true
        },
      )
    }
  })
}
