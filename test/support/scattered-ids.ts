// User ids for reconciliation: as long as real ones, shuffled, and the same in every run.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'

/** Returns the id with this number. */
export const idOf = (n: number): string => `1000000${10_000_000 + n}`

/** Returns the numbers from `from` to `to` - 1, shuffled. */
export function scattered(from: number, to: number): Uint32Array {
  const numbers = Uint32Array.from({ length: to - from }, (_, i) => from + i)
  let seed = 12_345
  for (let i = numbers.length - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    const j = seed % (i + 1)
    const swapped = numbers[i] as number
    numbers[i] = numbers[j] as number
    numbers[j] = swapped
  }
  return numbers
}

/** Writes an id for each number: one per line, or as the answer of §2.5. */
export async function writeIds(file: string, numbers: Uint32Array, as: 'lines' | 'answer'): Promise<void> {
  const stream = createWriteStream(file)
  for (const part of texts(numbers, as)) if (!stream.write(part)) await once(stream, 'drain')
  stream.end()
  await once(stream, 'finish')
}

/** Yields the text in parts of about 64 KB. */
export function* texts(numbers: Iterable<number>, as: 'lines' | 'answer'): Generator<string> {
  let text = as === 'answer' ? '{"users":[' : ''
  let first = true
  for (const n of numbers) {
    text += as === 'lines' ? `${idOf(n)}\n` : `${first ? '' : ','}"${idOf(n)}"`
    first = false
    if (text.length < 65_536) continue
    yield text
    text = ''
  }
  yield as === 'answer' ? `${text}],"timestamp":"${new Date().toISOString()}"}` : text
}
