import assert from 'node:assert/strict'
import test from 'node:test'
import { blocks, longestLine } from '../../src/base/http/lines.ts'

async function* chunksOf(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Reads the lines of a text in chunks of this size. A line that is too long is '…'. */
async function readLines(text: string, size: number): Promise<string[]> {
  const found: string[] = []
  for await (const block of blocks(chunksOf(text, size))) {
    if ('tooLong' in block) found.push('…')
    else found.push(...block.lines.toString().replace(/\n$/, '').split('\n'))
  }
  return found
}

test('a stream is split into lines, whatever the size of its chunks', async () => {
  const lines = Array.from({ length: 5_000 }, (_, i) => `${i} ${'ü'.repeat(i % 300)}`)
  for (const size of [7, 4_096, 65_536, 10_000_000]) {
    assert.deepEqual(await readLines(lines.join('\n'), size), lines)
    assert.deepEqual(await readLines(`${lines.join('\n')}\n`, size), lines)
  }
})

test('an empty stream has no lines, and blank lines are kept', async () => {
  assert.deepEqual(await readLines('', 10), [])
  assert.deepEqual(await readLines('a\n\nb', 10), ['a', '', 'b'])
})

test('a line that is too long is reported in its place, and the other lines are read', async () => {
  const long = 'x'.repeat(2 * longestLine + 600_000)
  for (const size of [65_536, 10_000_000]) {
    const found = await readLines(`one\n${long}\nthree\n${'y'.repeat(1000)}\n`, size)
    const lines = found.map((line) => (line.length > longestLine ? '…' : line))
    assert.deepEqual(lines, ['one', '…', 'three', 'y'.repeat(1000)], `chunks of ${size}`)
  }
})
