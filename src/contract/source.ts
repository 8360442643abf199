// A body as text that can be scanned fast: the text for slices, its code units for loops.

import { isAscii, isUtf8 } from 'node:buffer'

export interface Source {
  readonly text: string
  /** One for each character of `text`, so that positions are the same in both. A loop over them costs a third of charCodeAt. */
  readonly units: Uint8Array | Uint16Array
  /**
   * False: the bytes are not UTF-8. `text` then has one character for each byte: good enough to find where elements begin
   * and end (JSON's own signs are ASCII), never to be used as content.
   */
  readonly intact: boolean
  /** No lone surrogates in the text itself (it may still spell them as escapes). Bytes that are UTF-8 have none. */
  readonly wellFormed: boolean
}

/** Decodes a body. A byte order mark at its beginning is left out, as RFC 8259 §8.1 permits. */
export function sourceOf(body: Uint8Array | string): Source {
  if (typeof body === 'string') {
    return sourceOfText(body.charCodeAt(0) === 0xfeff ? body.slice(1) : body, body.isWellFormed())
  }
  const whole = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const bytes = whole[0] === 0xef && whole[1] === 0xbb && whole[2] === 0xbf ? whole.subarray(3) : whole
  if (isAscii(bytes)) return { text: bytes.toString('latin1'), units: bytes, intact: true, wellFormed: true }
  if (isUtf8(bytes)) return sourceOfText(bytes.toString('utf8'), true)
  return { text: bytes.toString('latin1'), units: bytes, intact: false, wellFormed: true }
}

function sourceOfText(text: string, wellFormed: boolean): Source {
  const units = new Uint16Array(text.length)
  Buffer.from(units.buffer).write(text, 'utf16le')
  return { text, units, intact: true, wellFormed }
}
