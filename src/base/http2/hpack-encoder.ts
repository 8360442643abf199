// Encodes the header fields of requests (RFC 7541 §6). A field is sent in full once, and as an index of the table afterwards.

import { defaultTableSize } from './frames.ts'
import { DynamicTable, type Field, staticFields, writeInteger } from './hpack-table.ts'

/** table: the field is added to the table; nameOnly: its value is never in a table; once: not added, as the next value differs. */
export type Indexing = 'table' | 'nameOnly' | 'once'

/** The most bytes that a field needs besides its name and its value. */
export const fieldOverhead = 12
/** The most bytes that announce a new size of the table. */
export const sizeUpdateBytes = 8

/** The entries with one name. */
interface Known {
  /** The index of the name in the static table, or 0. */
  readonly staticIndex: number
  /** By value: the number of the dynamic entry, or the negative index of the static one. */
  readonly values: Map<string, number>
  /** The value that was sent last, with its number: most requests repeat it. Comparing is cheaper than hashing. */
  lastValue: string | undefined
  lastNumber: number
  /** The number of the newest dynamic entry, or -1. */
  newest: number
}

export class Encoder {
  readonly #table = new DynamicTable(defaultTableSize, (field, number) => this.#forget(field, number))
  readonly #known = new Map<string, Known>()
  /** The smallest size since the last block. Undefined: the size is unchanged. */
  #leastSize: number | undefined

  constructor() {
    staticFields.forEach(({ name, value }, index) => {
      if (index === 0) return
      const known = this.#know(name, index)
      if (value !== '') known.values.set(value, -index)
    })
  }

  /** Applies the peer's SETTINGS_HEADER_TABLE_SIZE. The next block announces it (§4.2). */
  resize(allowed: number): void {
    const size = Math.min(allowed, defaultTableSize)
    if (size === this.#table.maxSize) return
    this.#leastSize = Math.min(this.#leastSize ?? size, size)
    this.#table.resize(size)
  }

  /** Writes the size update before the first field of a block. @returns its end */
  beginBlock(to: Buffer, at: number): number {
    const least = this.#leastSize
    if (least === undefined) return at
    this.#leastSize = undefined
    const size = this.#table.maxSize
    if (least < size) at = writeInteger(to, at, 0x20, 5, least)
    return writeInteger(to, at, 0x20, 5, size)
  }

  /** @returns the end of the field */
  writeField(to: Buffer, at: number, name: string, value: string, indexing: Indexing): number {
    const known = this.#known.get(name)
    if (known !== undefined && indexing === 'table') {
      const number = known.lastValue === value ? known.lastNumber : known.values.get(value)
      if (number !== undefined) {
        known.lastValue = value
        known.lastNumber = number
        return writeInteger(to, at, 0x80, 7, number < 0 ? -number : this.#indexOf(number))
      }
    }
    const nameIndex =
      known === undefined ? 0 : known.staticIndex || (known.newest < 0 ? 0 : this.#indexOf(known.newest))
    // The name of a field without a table entry is sent in full only once.
    const keep = indexing === 'table' || (indexing === 'nameOnly' && nameIndex === 0)
    if (keep) at = writeInteger(to, at, 0x40, 6, nameIndex)
    else at = writeInteger(to, at, indexing === 'nameOnly' ? 0x10 : 0, 4, nameIndex)
    if (nameIndex === 0) at = writeText(to, at, name)
    at = writeText(to, at, value)
    if (keep && this.#table.insert({ name, value })) {
      const number = this.#table.inserted - 1
      const added = this.#know(name, 0)
      added.values.set(value, number)
      added.newest = number
      added.lastValue = value
      added.lastNumber = number
    }
    return at
  }

  #indexOf(number: number): number {
    return staticFields.length + this.#table.inserted - 1 - number
  }

  #know(name: string, staticIndex: number): Known {
    const present = this.#known.get(name)
    if (present) return present
    const made: Known = { staticIndex, values: new Map(), lastValue: undefined, lastNumber: 0, newest: -1 }
    this.#known.set(name, made)
    return made
  }

  #forget({ name, value }: Field, number: number): void {
    const known = this.#known.get(name)
    if (known === undefined) return
    if (known.values.get(value) === number) known.values.delete(value)
    if (known.lastNumber === number) known.lastValue = undefined
    if (known.newest !== number) return
    known.newest = -1
    if (known.staticIndex === 0) this.#known.delete(name)
  }
}

function writeText(to: Buffer, at: number, text: string): number {
  at = writeInteger(to, at, 0, 7, text.length)
  return at + to.write(text, at, 'latin1')
}
