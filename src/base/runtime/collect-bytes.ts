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
export const collectBytes = (): CollectedBytes => new Collected()

class Collected implements CollectedBytes {
  bytes = 0
  readonly #parts: Buffer[] = []
  /** Small chunks are copied to it. Its bytes before `#start` are in `#parts` already; those from `#end` on are free. */
  #block = noBytes
  #start = 0
  #end = 0

  add(chunk: Buffer): void {
    const isFirst = this.bytes === 0
    this.bytes += chunk.length
    if (isFirst || chunk.length >= leastOwnBytes) {
      this.#keepBlock()
      this.#parts.push(chunk)
      return
    }
    if (this.#block.length - this.#end < chunk.length) {
      this.#keepBlock()
      this.#block = Buffer.allocUnsafeSlow(Math.min(mostBlockBytes, Math.max(leastOwnBytes, this.bytes)))
      this.#start = 0
      this.#end = 0
    }
    this.#end += chunk.copy(this.#block, this.#end)
  }

  join(): Buffer {
    this.#keepBlock()
    return this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts, this.bytes)
  }

  #keepBlock(): void {
    if (this.#end > this.#start) this.#parts.push(this.#block.subarray(this.#start, this.#end))
    this.#start = this.#end
  }
}
