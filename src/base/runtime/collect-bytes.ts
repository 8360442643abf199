// Collects the chunks of a body. The sender decides how small they are: a chunk of one byte needs 300 bytes as an object of its own.

/** A chunk of this size is kept as it is. A smaller one is copied behind the others, unless it is the first. */
const leastOwnBytes = 4 * 1024
const mostBlockBytes = 64 * 1024

/** One for all: an empty buffer of each body costs its collection. */
const noBytes = Buffer.alloc(0)

export interface CollectedBytes {
  /** The number of bytes so far. */
  readonly bytes: number
  add(chunk: Buffer): void
  /** All bytes so far. */
  join(): Buffer
}

/** @example const body = collectBytes(); socket.on('data', (chunk) => body.add(chunk)) */
export function collectBytes(): CollectedBytes {
  const parts: Buffer[] = []
  let bytes = 0
  /** Small chunks are copied to it. Its bytes before `start` are in `parts` already; those from `end` on are free. */
  let block = noBytes
  let start = 0
  let end = 0

  function keepBlock(): void {
    if (end > start) parts.push(block.subarray(start, end))
    start = end
  }

  return {
    get bytes() {
      return bytes
    },
    add(chunk) {
      const isFirst = bytes === 0
      bytes += chunk.length
      if (isFirst || chunk.length >= leastOwnBytes) {
        keepBlock()
        parts.push(chunk)
        return
      }
      if (block.length - end < chunk.length) {
        keepBlock()
        block = Buffer.allocUnsafeSlow(Math.min(mostBlockBytes, Math.max(leastOwnBytes, bytes)))
        start = 0
        end = 0
      }
      end += chunk.copy(block, end)
    },
    join() {
      keepBlock()
      return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, bytes)
    },
  }
}
