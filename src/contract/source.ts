// A request or response body, prepared for fast scanning: its text for slices, its code units for loops.

import { isAscii, isUtf8 } from 'node:buffer'

export interface Source {
  readonly text: string
  /** The code units of `text`, with the same positions. A loop over them costs a third of charCodeAt. */
  readonly units: Uint8Array | Uint16Array
  /**
   * Whether the bytes are UTF-8. If not, `text` has one character per byte. That suffices to find the bounds of elements, because
   * the syntax of JSON is ASCII, but it must not be used as content.
   */
  readonly intact: boolean
}

/** Decodes a body. A byte order mark is ignored, as RFC 8259 §8.1 permits. */
export function sourceOf(body: Uint8Array | string): Source {
  if (typeof body === 'string') {
    return sourceOfText(body.charCodeAt(0) === 0xfeff ? body.slice(1) : body)
  }
  const whole = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const bytes = whole[0] === 0xef && whole[1] === 0xbb && whole[2] === 0xbf ? whole.subarray(3) : whole
  if (isAscii(bytes)) return { text: bytes.toString('latin1'), units: bytes, intact: true }
  if (isUtf8(bytes)) return sourceOfText(bytes.toString('utf8'))
  return { text: bytes.toString('latin1'), units: bytes, intact: false }
}

function sourceOfText(text: string): Source {
  const units = new Uint16Array(text.length)
  Buffer.from(units.buffer).write(text, 'utf16le')
  return { text, units, intact: true }
}
