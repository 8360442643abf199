// The numbers of HTTP/2 (RFC 9113 §6, §7, §11), and the head of a frame.

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const

export const setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const

export const errorCode = {
  none: 0,
  protocol: 1,
  flowControl: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const

/** Length, type, flags and stream of a frame (§4.1). */
export const headBytes = 9
/** The largest payload that each side accepts unless it announces another size (§4.2). */
export const leastMaxFrame = 16_384
/** The window of a connection and of each stream, unless SETTINGS or WINDOW_UPDATE change it (§6.9.2). */
export const defaultWindow = 65_535
export const maxWindow = 0x7fffffff
/** The size of an HPACK table before SETTINGS change it. We never announce another size. */
export const defaultTableSize = 4_096

/** The peer violated the protocol or a limit. The connection ends with a GOAWAY of this code. */
export class ConnectionError extends Error {
  readonly errorCode: number
  constructor(code: number, message: string) {
    super(message)
    this.errorCode = code
  }
}

export function writeHead(to: Buffer, at: number, length: number, type: number, flags: number, stream: number): void {
  to[at] = length >>> 16
  to[at + 1] = length >>> 8
  to[at + 2] = length
  to[at + 3] = type
  to[at + 4] = flags
  to.writeUInt32BE(stream, at + 5)
}
