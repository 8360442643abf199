// Decodes the header blocks of one connection (RFC 7541 §6).

import { ConnectionError, defaultTableSize, errorCode } from './frames.ts'
import { badBlock, Cursor, DynamicTable } from './hpack-table.ts'
import { decodeHuffman } from './huffman.ts'

/** SETTINGS_MAX_HEADER_LIST_SIZE: names and values of one block, with 32 bytes for each field. */
export const mostHeaderListBytes = 64 * 1024

export class Decoder {
  readonly #table = new DynamicTable(defaultTableSize)

  /** @returns names and values, alternating. @throws ConnectionError */
  decode(bytes: Buffer, start: number, end: number): string[] {
    const fields: string[] = []
    const cursor = new Cursor(bytes, start, end)
    let left = mostHeaderListBytes
    while (cursor.at < end) {
      const first = bytes[cursor.at] as number
      if (first >= 0x20 && first < 0x40) {
        // A size update is only allowed at the start of a block (§4.2).
        if (fields.length > 0) throw badBlock('a size update follows a field')
        const size = cursor.readInteger(5)
        if (size > defaultTableSize) throw badBlock(`the table size ${size} was not offered`)
        this.#table.resize(size)
        continue
      }
      let name: string
      let value: string
      if (first >= 0x80) {
        const field = this.#table.get(cursor.readInteger(7))
        if (field === undefined) throw badBlock('an index is not in the table')
        ;({ name, value } = field)
      } else {
        const keep = first >= 0x40
        const index = cursor.readInteger(keep ? 6 : 4)
        name = index === 0 ? readText(cursor) : (this.#table.get(index)?.name ?? unknownIndex())
        value = readText(cursor)
        if (keep) this.#table.insert({ name, value })
      }
      left -= name.length + value.length + 32
      if (left < 0) throw new ConnectionError(errorCode.enhanceYourCalm, 'the headers of an answer are too large')
      fields.push(name, value)
    }
    return fields
  }
}

function unknownIndex(): never {
  throw badBlock('the index of a name is not in the table')
}

function readText(cursor: Cursor): string {
  const { bytes } = cursor
  const isHuffman = (bytes[cursor.at] as number) >= 0x80
  const length = cursor.readInteger(7)
  const start = cursor.at
  const end = start + length
  if (end > cursor.end) throw badBlock('it ends within a string')
  cursor.at = end
  if (!isHuffman) return bytes.toString('latin1', start, end)
  const text = decodeHuffman(bytes, start, end)
  if (text === undefined) throw badBlock('a Huffman code is invalid')
  return text
}
