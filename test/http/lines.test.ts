import assert from 'node:assert/strict'
import test from 'node:test'
import { blocks, longestLine } from '../../src/http/lines.ts'

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** What came through, a line that was too long as '…'. */
async function cut(text: string, size: number): Promise<string[]> {
  const found: string[] = []
  for await (const block of blocks(inPieces(text, size))) {
    if ('tooLong' in block) found.push('…')
    else found.push(...block.lines.toString().replace(/\n$/, '').split('\n'))
  }
  return found
}

test('a stream is cut between its lines, however its pieces fall', async () => {
  const lines = Array.from({ length: 5_000 }, (_, i) => `${i} ${'ü'.repeat(i % 300)}`)
  for (const size of [7, 4_096, 65_536, 10_000_000]) {
    assert.deepEqual(await cut(lines.join('\n'), size), lines)
    assert.deepEqual(await cut(`${lines.join('\n')}\n`, size), lines)
  }
})

test('nothing comes of nothing, and blank lines keep their number', async () => {
  assert.deepEqual(await cut('', 10), [])
  assert.deepEqual(await cut('a\n\nb', 10), ['a', '', 'b'])
})

test('a line that is too long is told by its place, the lines before and after it come through', async () => {
  const long = 'x'.repeat(2 * longestLine + 600_000)
  for (const size of [65_536, 10_000_000]) {
    const found = await cut(`one\n${long}\nthree\n${'y'.repeat(1000)}\n`, size)
    const seen = found.map((line) => (line.length > longestLine ? '…' : line))
    assert.deepEqual(seen, ['one', '…', 'three', 'y'.repeat(1000)], `pieces of ${size}`)
  }
})
