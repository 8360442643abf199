import assert from 'node:assert/strict'
import test from 'node:test'
import { createCopyRows } from '../../src/attributes/copy-rows.ts'
import { jsonOf } from '../../src/attributes/id-chunks.ts'

const message = (type: string, body: string): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(Buffer.byteLength(body) + 4, 1)
  return Buffer.concat([head, Buffer.from(body)])
}
const row = (text: string): Buffer => message('d', `${text}\n`)

/** Feeds the pieces to the parser. @returns the users as a client of the response would read them */
function read(pieces: readonly Buffer[]): { users: string[]; count: number; rest: string } {
  const rows = createCopyRows()
  const out: Buffer[] = []
  let count = 0
  let rest = Buffer.alloc(0)
  for (const piece of pieces) {
    const got = rows(Buffer.from(piece)) // copied, because the parser overwrites its input
    for (const chunk of got.chunks) {
      const { json, count: more } = jsonOf(chunk)
      out.push(Buffer.from(json))
      count += more
    }
    if (got.rest) rest = Buffer.concat([rest, got.rest])
  }
  return { users: JSON.parse(`[${Buffer.concat(out).subarray(1)}]`), count, rest: rest.toString('latin1') }
}

const texts = [
  '1001',
  '',
  'a"b',
  '""""""""',
  'tab\\tback\\\\slash\\nline',
  '\u0001\u0001\u0001\u0001',
  'Zoë 🎉',
  'x'.repeat(70),
]
const users = [
  '1001',
  '',
  'a"b',
  '""""""""',
  'tab\tback\\slash\nline',
  '\u0001\u0001\u0001\u0001',
  'Zoë 🎉',
  'x'.repeat(70),
]
const answer = Buffer.concat([message('H', '\0\0\u0001\0\0'), ...texts.map(row), message('N', 'a notice'), row('last')])
const done = Buffer.concat([answer, message('c', ''), message('C', 'COPY 9\0')])

test('rows become JSON, wherever the socket splits them', () => {
  const expected = { users: [...users, 'last'], count: 9, rest: message('C', 'COPY 9\0').toString('latin1') }
  assert.deepEqual(read([done]), expected)
  for (let at = 1; at < done.length; at++)
    assert.deepEqual(read([done.subarray(0, at), done.subarray(at)]).users, expected.users, `split at ${at}`)
  for (const size of [1, 2, 3, 5, 7, 11]) {
    const pieces = Array.from({ length: Math.ceil(answer.length / size) }, (_, i) =>
      answer.subarray(i * size, (i + 1) * size),
    )
    assert.deepEqual(read(pieces), { ...expected, rest: '' }, `pieces of ${size}`)
  }
})

test('an error message after some rows is returned unread, for pg; NULL is rejected as an id', () => {
  const error = message('E', 'SERROR\0\0')
  const { users, rest } = read([Buffer.concat([row('1001'), error, message('Z', 'E')])])
  assert.deepEqual(users, ['1001'])
  assert.equal(rest, Buffer.concat([error, message('Z', 'E')]).toString('latin1'))
  assert.throws(() => read([row('\\N')]), /NULL for a user id/)
})
