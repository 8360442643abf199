import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import test from 'node:test'
import { phraseCount } from '../../src/base/runtime/phrase-count.ts'
import { createTextWriter, toJson } from '../../src/tools/cli/output.ts'
import { countTable, factLines, refusedLines, summaryLine, textTable } from '../../src/tools/cli/text-table.ts'

const hostile = 'a\u001b[2Jé\u009b31m\u202e\r\nb'

async function write(isTTY: boolean, chunkBytes: number): Promise<string> {
  let written = ''
  const output = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      written += String(chunk)
      done()
    },
  })
  const writeText = createTextWriter(Object.assign(output, { isTTY }))
  const bytes = Buffer.from(hostile)
  for (let from = 0; from < bytes.length; from += chunkBytes) await writeText(bytes.subarray(from, from + chunkBytes))
  return written
}

test('a downloaded text is written to a terminal without its control characters, also if a character is cut', async () => {
  const escaped = 'a\\u001b[2Jé\\u009b31m\\u202e\r\nb'
  assert.equal(await write(true, 1_000), escaped)
  assert.equal(await write(true, 1), escaped)
})

test('to a file or a pipe, a downloaded text is written unchanged', async () => {
  assert.equal(await write(false, 1_000), hostile)
})

test('the JSON of a command has no control character and the same value', () => {
  assert.equal(toJson({ error: 'a\u009b31m\u001b' }), '{"error":"a\\u009b31m\\u001b"}')
  assert.deepEqual(JSON.parse(toJson([hostile])), [hostile])
})

test('one item is counted in the singular', () => {
  assert.deepEqual(
    [0, 1, 2, 12_345].map((count) => phraseCount(count, 'record')),
    ['0 records', '1 record', '2 records', '12,345 records'],
  )
})

test('tables, their notes and summaries show the control characters of other parties, which a terminal would execute', () => {
  const text = 'a\x1b[2Jb'
  const lines = [
    textTable([{ title: 'X' }], [[text]], [[text]]),
    countTable([{ title: 'X' }], ['sent'], [{ names: [text], counts: { sent: 1 } }]),
    factLines([['X', text]]).join('\n'),
    summaryLine('failed', 1, text),
    refusedLines(1, [{ line: 1, error: text }]).join('\n'),
  ]
  for (const line of lines) assert.ok(line.includes('a') && !line.includes('\x1b'), line)
})
