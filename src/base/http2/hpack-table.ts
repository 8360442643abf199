// The tables of HPACK (RFC 7541 §2.3), and its integers (§5.1).

import { ConnectionError, errorCode } from './frames.ts'

export interface Field {
  readonly name: string
  readonly value: string
}

/** Appendix A: the entries 1 to 61, as "name=value". */
const staticText =
  ':authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|:scheme=https|:status=200|:status=204|:status=206|' +
  ':status=304|:status=400|:status=404|:status=500|accept-charset|accept-encoding=gzip, deflate|accept-language|accept-ranges|accept|' +
  'access-control-allow-origin|age|allow|authorization|cache-control|content-disposition|content-encoding|content-language|' +
  'content-length|content-location|content-range|content-type|cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|' +
  'if-none-match|if-range|if-unmodified-since|last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|' +
  'referer|refresh|retry-after|server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate'

/** Index 0 is unused. */
export const staticFields: readonly Field[] = `|${staticText}`.split('|').map((entry) => {
  const [name = '', value = ''] = entry.split('=')
  return { name, value }
})

/** The size of an entry (§4.1). Our strings have one byte for each character. */
export const sizeOf = ({ name, value }: Field): number => name.length + value.length + 32

/** The entries of one direction of one connection. The newest entry has the index 62. */
export class DynamicTable {
  /** The number of entries that were ever inserted: the number of the next entry. */
  inserted = 0
  #entries: Field[] = []
  /** The position of the oldest entry in `#entries`. */
  #oldest = 0
  #size = 0
  #maxSize: number
  readonly #onEvicted: ((field: Field, number: number) => void) | undefined

  constructor(maxSize: number, onEvicted?: (field: Field, number: number) => void) {
    this.#maxSize = maxSize
    this.#onEvicted = onEvicted
  }

  get maxSize(): number {
    return this.#maxSize
  }

  /** @param index of the static or the dynamic table */
  get(index: number): Field | undefined {
    if (index < staticFields.length) return index === 0 ? undefined : staticFields[index]
    const position = this.#entries.length - (index - staticFields.length) - 1
    return position < this.#oldest ? undefined : this.#entries[position]
  }

  /** @returns false if the entry is larger than the table: then the table is empty (§4.4) */
  insert(field: Field): boolean {
    const size = sizeOf(field)
    this.#evictFor(size)
    if (size > this.#maxSize) return false
    this.#entries.push(field)
    this.#size += size
    this.inserted++
    return true
  }

  resize(maxSize: number): void {
    this.#maxSize = maxSize
    this.#evictFor(0)
  }

  #evictFor(size: number): void {
    while (this.#size + size > this.#maxSize && this.#oldest < this.#entries.length) {
      const evicted = this.#entries[this.#oldest++] as Field
      this.#size -= sizeOf(evicted)
      this.#onEvicted?.(evicted, this.inserted - (this.#entries.length - this.#oldest) - 1)
    }
    if (this.#oldest < 256) return
    this.#entries = this.#entries.slice(this.#oldest)
    this.#oldest = 0
  }
}

/** Writes an integer after the bits of `first`. @returns its end */
export function writeInteger(to: Buffer, at: number, first: number, prefixBits: number, value: number): number {
  const most = (1 << prefixBits) - 1
  if (value < most) {
    to[at] = first | value
    return at + 1
  }
  to[at++] = first | most
  for (value -= most; value >= 128; value >>>= 7) to[at++] = (value & 127) | 128
  to[at] = value
  return at + 1
}

/** A position in a header block. */
export class Cursor {
  readonly bytes: Buffer
  at: number
  readonly end: number
  constructor(bytes: Buffer, at: number, end: number) {
    this.bytes = bytes
    this.at = at
    this.end = end
  }

  readInteger(prefixBits: number): number {
    const most = (1 << prefixBits) - 1
    let value = this.readByte() & most
    if (value < most) return value
    for (let shift = 0; ; shift += 7) {
      if (shift > 21) throw badBlock('an integer is too large')
      const byte = this.readByte()
      value += (byte & 127) << shift
      if (byte < 128) return value
    }
  }

  readByte(): number {
    if (this.at >= this.end) throw badBlock('it ends within a field')
    return this.bytes[this.at++] as number
  }
}

export const badBlock = (problem: string): ConnectionError =>
  new ConnectionError(errorCode.compression, `a header block cannot be read: ${problem}`)
