// One request that was written, and its answer as far as it has arrived (RFC 9113 §8.1).

import { type CollectedBytes, collectBytes } from '../runtime/collect-bytes.ts'
import { type End, type Exchanged, mostAnswerBytes } from './connection.ts'
import { ReceiveWindow } from './flow.ts'

const noBytes = Buffer.alloc(0)
/** Fields of a connection, which HTTP/2 forbids (§8.2.2). */
const connectionFields = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])

export class Stream {
  readonly id: number
  /** The bytes that the peer accepts now. */
  sendWindow: number
  /** The rest of the body that waits for a window. */
  unsent: Buffer | undefined
  readonly received: ReceiveWindow
  readonly onEnd: (end: End) => void
  #status = 0
  #headers: Record<string, string> = {}
  #declaredBytes: number | undefined
  #body: Buffer = noBytes
  /** The body, if it came in several frames. */
  #pieces: CollectedBytes | undefined
  #bytes = 0

  constructor(id: number, sendWindow: number, receiveWindow: number, onEnd: (end: End) => void) {
    this.id = id
    this.sendWindow = sendWindow
    this.received = new ReceiveWindow(receiveWindow)
    this.onEnd = onEnd
  }

  /** Adds interim or final headers, or trailers. @returns why they are malformed */
  addHeaders(fields: readonly string[], ends: boolean): string | undefined {
    if (this.#status >= 200) return ends ? findFault(fields, 0) : 'trailers do not end the answer'
    const status = fields[0] === ':status' && /^[1-5]\d\d$/.test(fields[1] as string) ? Number(fields[1]) : 0
    if (status === 0) return 'the answer has no valid :status'
    const fault = findFault(fields, 2)
    if (fault !== undefined) return fault
    if (status === 101) return 'the answer has status 101'
    if (status < 200) return ends ? 'an interim answer ends the stream' : undefined
    this.#status = status
    const headers = this.#headers
    for (let i = 2; i < fields.length; i += 2) {
      const name = fields[i] as string
      const value = fields[i + 1] as string
      headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value
    }
    const declared = headers['content-length']
    if (declared === undefined || status === 304) return undefined
    if (!/^\d{1,15}$/.test(declared)) return 'content-length is not a number'
    this.#declaredBytes = Number(declared)
    return undefined
  }

  /** @returns why the data is malformed */
  addData(bytes: Buffer): string | undefined {
    if (this.#status < 200) return 'a body comes before its headers'
    const left = mostAnswerBytes - this.#bytes
    this.#bytes += bytes.length
    if (this.#declaredBytes !== undefined && this.#bytes > this.#declaredBytes) return 'the body exceeds content-length'
    if (bytes.length === 0 || left <= 0) return undefined
    const piece = Buffer.from(bytes.subarray(0, left))
    if (this.#body.length === 0) this.#body = piece
    else {
      if (!this.#pieces) {
        this.#pieces = collectBytes()
        this.#pieces.add(this.#body)
      }
      this.#pieces.add(piece)
    }
    return undefined
  }

  /** Called when the peer has ended the stream. @returns the answer, or why it is malformed */
  finish(): Exchanged | string {
    if (this.#declaredBytes !== undefined && this.#bytes !== this.#declaredBytes)
      return 'the body is shorter than content-length'
    const body = this.#pieces?.join() ?? this.#body
    return { status: this.#status, headers: this.#headers, body, cut: this.#bytes > mostAnswerBytes }
  }
}

function findFault(fields: readonly string[], from: number): string | undefined {
  for (let i = from; i < fields.length; i += 2) {
    const name = fields[i] as string
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || connectionFields.has(name)) return 'a header is not allowed'
    if (/[\0\r\n]/.test(fields[i + 1] as string)) return 'the value of a header is not allowed'
  }
  return undefined
}
