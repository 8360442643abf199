// The few messages of PostgreSQL's wire protocol that a commit needs, written into one buffer: pg would write each array
// as text, and copy it several times. https://www.postgresql.org/docs/current/protocol-message-formats.html

import type { ColumnType, Value } from './database.ts'

const oid = { text: 25, bigint: 20 } as const
const mostBytes = 768 * 1024 * 1024 // the server takes messages below 1 GiB

export class WireWriter {
  #buffer: Buffer
  #at = 0

  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafe(size)
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#at)
  }

  /** Prepares a statement under a name, whether the name was taken or not. */
  parse(name: string, text: string): void {
    this.#message('C', () => {
      this.#ascii('S')
      this.#cstring(name)
    })
    this.#message('P', () => {
      this.#cstring(name)
      this.#cstring(text)
      this.#int16(0)
    })
  }

  /** Binds one array for each column and executes; `describe` asks for the columns of the result. */
  execute(name: string, types: readonly ColumnType[], rows: readonly (readonly Value[])[], describe: boolean): void {
    this.#message('B', () => {
      this.#cstring('')
      this.#cstring(name)
      this.#int16(1)
      this.#int16(1) // every parameter is binary
      this.#int16(types.length)
      for (const [column, type] of types.entries()) this.#sized(() => this.#array(type, column, rows))
      this.#int16(0) // every result is text
    })
    if (describe) {
      this.#message('D', () => {
        this.#ascii('P')
        this.#cstring('')
      })
    }
    this.#message('E', () => {
      this.#cstring('')
      this.#int32(0)
    })
  }

  sync(): void {
    this.#message('S', () => {})
  }

  #array(type: ColumnType, column: number, rows: readonly (readonly Value[])[]): void {
    this.#int32(1) // dimensions
    this.#int32(1) // may hold nulls
    this.#int32(oid[type])
    this.#int32(rows.length)
    this.#int32(1) // first index
    if (type === 'text') for (const row of rows) this.#text(row[column] as string | null)
    else for (const row of rows) this.#int8(row[column] as number | null)
  }

  #text(value: string | null): void {
    if (value === null) {
      this.#int32(-1)
      return
    }
    const length = value.length
    // Three bytes for each UTF-16 unit are always enough; where that could waste much, count first.
    this.#ensure(4 + (length > 65_536 ? Buffer.byteLength(value) : length * 3))
    const start = this.#at + 4
    const written = length < 24 ? this.#short(value, start) : this.#buffer.write(value, start, 'utf8')
    this.#buffer.writeInt32BE(written, this.#at)
    this.#at = start + written
  }

  // Keys and ids: calling into the engine costs more than these few characters.
  #short(value: string, start: number): number {
    const buffer = this.#buffer
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i)
      if (code > 127) return buffer.write(value, start, 'utf8')
      buffer[start + i] = code
    }
    return value.length
  }

  #int8(value: number | null): void {
    if (value === null) {
      this.#int32(-1)
      return
    }
    this.#int32(8)
    this.#ensure(8)
    this.#buffer.writeInt32BE(Math.floor(value / 4_294_967_296), this.#at)
    this.#buffer.writeUInt32BE(value >>> 0, this.#at + 4)
    this.#at += 8
  }

  #message(type: string, body: () => void): void {
    this.#ascii(type)
    const start = this.#at
    this.#ensure(4)
    this.#at += 4
    body()
    this.#buffer.writeInt32BE(this.#at - start, start)
  }

  #sized(body: () => void): void {
    const start = this.#at
    this.#ensure(4)
    this.#at += 4
    body()
    this.#buffer.writeInt32BE(this.#at - start - 4, start)
  }

  #ascii(character: string): void {
    this.#ensure(1)
    this.#buffer[this.#at++] = character.charCodeAt(0)
  }

  #cstring(text: string): void {
    this.#ensure(text.length * 3 + 1)
    this.#at += this.#buffer.write(text, this.#at, 'utf8')
    this.#buffer[this.#at++] = 0
  }

  #int16(value: number): void {
    this.#ensure(2)
    this.#at = this.#buffer.writeInt16BE(value, this.#at)
  }

  #int32(value: number): void {
    this.#ensure(4)
    this.#at = this.#buffer.writeInt32BE(value, this.#at)
  }

  #ensure(more: number): void {
    const needed = this.#at + more
    if (needed <= this.#buffer.length) return
    if (needed > mostBytes)
      throw new RangeError(`One transaction with more than ${mostBytes} bytes: send fewer rows at a time`)
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }
}
