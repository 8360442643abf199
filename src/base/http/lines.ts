import { collectBytes } from '../runtime/collect-bytes.ts'

/** The length limit of a line in bytes. A longer line is reported as `tooLong` and skipped, and reading continues. */
export const longestLine = 1024 * 1024

/** The approximate size of a block. */
const blockBytes = 512 * 1024

/** Complete lines, or the position of a line that is too long. */
export type Block = { readonly lines: Buffer } | { readonly tooLong: true }

/** Splits a stream of bytes into blocks of complete lines. It buffers at most one block and one line. */
export async function* blocks(stream: AsyncIterable<Buffer>): AsyncGenerator<Block> {
  let collected = collectBytes()
  let skipping = false

  for await (const received of stream) {
    let chunk = received
    if (skipping) {
      const lineEnd = chunk.indexOf(0x0a)
      if (lineEnd === -1) continue
      skipping = false
      chunk = chunk.subarray(lineEnd + 1)
    }
    const end = chunk.lastIndexOf(0x0a) + 1
    if (end === 0 || collected.bytes + end < blockBytes) collected.add(chunk)
    else {
      collected.add(chunk.subarray(0, end))
      yield { lines: collected.join() }
      collected = collectBytes()
      collected.add(chunk.subarray(end))
    }
    if (collected.bytes <= blockBytes + longestLine) continue
    // The buffer exceeds a block and a line, so its last line is too long. The lines before it are complete.
    const whole = collected.join()
    const start = whole.lastIndexOf(0x0a) + 1
    if (start > 0) yield { lines: whole.subarray(0, start) }
    yield { tooLong: true }
    skipping = true
    collected = collectBytes()
  }
  if (collected.bytes > 0) yield { lines: collected.join() }
}
