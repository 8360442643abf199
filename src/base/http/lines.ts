/** The length limit of a line in bytes. A longer line is reported as `tooLong` and skipped, and reading continues. */
export const longestLine = 1024 * 1024

/** The approximate size of a block. */
const blockBytes = 512 * 1024

/** Complete lines, or the position of a line that is too long. */
export type Block = { readonly lines: Buffer } | { readonly tooLong: true }

/** Splits a stream of bytes into blocks of complete lines. It buffers at most one block and one line. */
export async function* blocks(stream: AsyncIterable<Buffer>): AsyncGenerator<Block> {
  let parts: Buffer[] = []
  let bytes = 0
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
    if (end === 0 || bytes + end < blockBytes) {
      parts.push(chunk)
      bytes += chunk.length
    } else {
      yield { lines: Buffer.concat([...parts, chunk.subarray(0, end)]) }
      parts = [chunk.subarray(end)]
      bytes = chunk.length - end
    }
    if (bytes <= blockBytes + longestLine) continue
    // The buffer exceeds a block and a line, so its last line is too long. The lines before it are complete.
    const whole = Buffer.concat(parts)
    const start = whole.lastIndexOf(0x0a) + 1
    if (start > 0) yield { lines: whole.subarray(0, start) }
    yield { tooLong: true }
    skipping = true
    parts = []
    bytes = 0
  }
  if (bytes > 0) yield { lines: Buffer.concat(parts) }
}
