import assert from 'node:assert/strict'
import test from 'node:test'
import { createAnswerParser } from '../../src/reconcile/answer-parser.ts'
import { Refused, type Why } from '../../src/reconcile/refusal.ts'
import type { Texts } from '../../src/store/scratch.ts'

/** Reads an answer that arrives in pieces of so many bytes. */
function read(answer: string | Buffer, size: number, mostIdBytes = 20_000): { ids: string[]; timestamp: number } {
  const bytes = Buffer.from(answer as string)
  const parser = createAnswerParser(mostIdBytes)
  const ids: string[] = []
  const take = (pieces: Iterable<Texts>): void => {
    for (const piece of pieces)
      ids.push(...('texts' in piece ? piece.texts : Buffer.from(piece.lines).toString().slice(0, -1).split('\n')))
  }
  for (let at = 0; at < bytes.length; at += size) take(parser.push(bytes.subarray(at, at + size)))
  const { texts, timestamp } = parser.end()
  take(texts)
  assert.equal(parser.ids, ids.length)
  return { ids: ids.toSorted(), timestamp }
}

const at = Date.UTC(2020, 0, 1, 10)
const stamp = '"timestamp":"2020-01-01T10:00:00Z"'
const odd = [
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

test('an answer is the same wherever it is cut: inside an id, an escape, a surrogate pair, a character', () => {
  const escapedOnly = JSON.stringify(odd).replace(
    /[^\x20-\x7e]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  for (const users of [JSON.stringify(odd), escapedOnly, '["\\u0061\\/\\b\\f", "b"]', '["1001","1002"]', '[]']) {
    const expected = (JSON.parse(users) as string[]).toSorted()
    const answer = `{"users":${users},${stamp}}`
    for (const size of [1, 2, 3, 5, 7, 64, 4_096, 1 << 20])
      assert.deepEqual(read(answer, size), { ids: expected, timestamp: at })
  }
})

test('members come in any order, with white space, with others beside them, and a null error is none', () => {
  for (const answer of [
    `{${stamp},"users":["1","2"]}`,
    ` \n{ "users" :\t[ "1" ,\r\n"2" ] , ${stamp} } \n`,
    `{"more":{"users":["x"],"a":[1,{"b":"]}"}]},"users":["1","2"],"n":-1.5e3,"t":true,${stamp}}`,
    `{"\\u0075sers":["1","2"],${stamp},"error":null}`,
    `\ufeff{"users":["1","2"],${stamp}}`,
  ])
    for (const size of [1, 3, 1_000]) assert.deepEqual(read(answer, size), { ids: ['1', '2'], timestamp: at }, answer)
})

const refused: readonly [answer: string | Buffer, why: Why, words: RegExp][] = [
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
  ['{"users":["1" "2"]}', 'not_json', /after users\[0\] stands "\\""/],
  ['{"users":["1",]}', 'not_json', /at users\[1\] stands "\]"/],
  ['{"users":[,"1"]}', 'not_json', /at users\[0\] stands ","/],
  [`{"users":["1"]${stamp}}`, 'not_json', /./],
  [`{"users":["1"],${stamp},}`, 'not_json', /./],
  [`{"users":["1"],${stamp}} {}`, 'not_json', /follows after its end/],
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
  [`{"users":["1",null],${stamp}}`, 'wrong_content', /users\[1\] is not a text/],
  [`{"users":[["1"]],${stamp}}`, 'wrong_content', /an array/],
  [`{"users":[{"id":"1"}],${stamp}}`, 'wrong_content', /an object/],
  [`{"users":[""],${stamp}}`, 'wrong_content', /empty text/],
  [`{"users":["a\\u0000"],${stamp}}`, 'wrong_content', /U\+0000/],
  [`{"users":["\\ud83d"],${stamp}}`, 'wrong_content', /half of a character/],
  [`{"users":"1",${stamp}}`, 'wrong_content', /users is not an array/],
  [`{${stamp}}`, 'wrong_content', /no users/],
  [`{"users":["1"],"users":["2"],${stamp}}`, 'wrong_content', /"users" is there twice/],
  [`{"users":["1"],${stamp},${stamp}}`, 'wrong_content', /"timestamp" is there twice/],
  [`{"users":["1"],"x":"${'y'.repeat(70_000)}",${stamp}}`, 'wrong_content', /65536 bytes beside users/],
  ['{"users":["1"]}', 'timestamp', /no timestamp/],
  ['{"users":["1"],"timestamp":1577872800}', 'timestamp', /cannot be read: 1577872800/],
  ['{"users":["1"],"timestamp":"yesterday"}', 'timestamp', /cannot be read/],
  [`{"users":["${'x'.repeat(20_001)}"],${stamp}}`, 'too_long', /users\[0\] is longer than 20000 bytes/],
  [`{"users":["1","${'\\n'.repeat(20_001)}"],${stamp}}`, 'too_long', /users\[1\]/],
  [`{"users":["${'x'.repeat(500_000)}`, 'too_long', /users\[0\]/],
]

for (const [answer, why, words] of refused) {
  test(`refused as ${why}: ${String(answer).slice(0, 60).replaceAll('\n', ' ')}`, () => {
    for (const size of [1, 6, 1 << 20]) {
      assert.throws(
        () => read(answer, size),
        (error) => {
          assert.ok(error instanceof Refused, String(error))
          assert.equal(error.why, why, error.message)
          assert.match(error.message, words)
          return true
        },
      )
    }
  })
}
