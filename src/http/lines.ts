/** The longest line that is read; a longer one is refused by its number and skipped, the stream goes on. */
export const longestLine = 1024 * 1024

/** About so many bytes are handed on at a time. */
const blockBytes = 512 * 1024

/** Whole lines, or the place of one that is too long. */
export type Block = { readonly lines: Buffer } | { readonly tooLong: true }

/** Cuts a stream of bytes between its lines. Memory is bounded by a block and the longest line. */
export async function* blocks(stream: AsyncIterable<Buffer>): AsyncGenerator<Block> {
  let parts: Buffer[] = []
  let bytes = 0
  let skipping = false

  for await (const arrived of stream) {
    let chunk = arrived
    if (skipping) {
      const feed = chunk.indexOf(0x0a)
      if (feed === -1) continue
      skipping = false
      chunk = chunk.subarray(feed + 1)
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
    // So much and no end of a line at the end of it: the last line is too long. What stands before it is not.
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
