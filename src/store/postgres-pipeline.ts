import type { ClientBase, Connection, FieldDef, Submittable } from 'pg'
import type { Op, Statement, Value } from './database.ts'
import { WireWriter } from './postgres-wire.ts'
import { StoreUnavailable } from './store-unavailable.ts'

/** What a connection has prepared. */
interface Prepared {
  readonly name: string
  /** The columns of the result, once known; none: it returns nothing. */
  fields?: readonly ReadField[]
}
interface ReadField {
  readonly name: string
  readonly read: (text: string) => Value
}

const prepared = new WeakMap<ClientBase, Map<Statement, Prepared>>()
// The next buffer is as large as the last one was, so that it seldom has to grow.
let lastSize = 65_536

/**
 * Runs these operations in one transaction and one round trip: all of them are written with a single Sync at the end, which
 * is what PostgreSQL takes for the end of the transaction. An error in any rolls back all.
 */
export function runPipeline(client: ClientBase, ops: readonly Op[]): Promise<object[][]> {
  return new Promise((resolve, reject) => {
    client.query(new Pipeline(client, ops, resolve, reject))
  })
}

// pg hands each message of the server to the handler of that name. The same shape as in pg-cursor.
class Pipeline implements Submittable {
  readonly #ops: readonly Op[]
  readonly #known: Map<Statement, Prepared>
  readonly #resolve: (rows: object[][]) => void
  readonly #reject: (error: unknown) => void
  readonly #results: object[][] = []
  #rows: object[] = []
  #fields: readonly ReadField[] = []
  #failed = false
  #unreadable: unknown

  constructor(
    client: ClientBase,
    ops: readonly Op[],
    resolve: (rows: object[][]) => void,
    reject: (error: unknown) => void,
  ) {
    this.#ops = ops
    this.#resolve = resolve
    this.#reject = reject
    this.#known = prepared.get(client) ?? new Map()
    prepared.set(client, this.#known)
    this.#fieldsOfCurrent()
  }

  /** @returns an error that happened before anything was written, as pg wants it */
  submit(connection: Connection): Error | null {
    try {
      const writer = new WireWriter(lastSize)
      const fresh = new Set<Statement>()
      for (const { statement, rows } of this.#ops) {
        const ready = this.#known.get(statement)
        const name = ready?.name ?? this.#nameOf(statement)
        if (!ready && !fresh.has(statement)) writer.parse(name, textOf(statement))
        fresh.add(statement)
        writer.execute(name, statement.types, rows, !ready)
      }
      writer.sync()
      lastSize = Math.max(65_536, Math.min(writer.bytes.length * 1.2, 16_777_216) | 0)
      connection.stream.write(writer.bytes)
      return null
    } catch (error) {
      return error as Error
    }
  }

  // Fixed for a statement on this connection: preparing it again after a failure takes the same name.
  #nameOf(statement: Statement): string {
    const number = numbers.get(statement) ?? ++statements
    numbers.set(statement, number)
    return `b${number}`
  }

  handleRowDescription({ fields }: { fields: FieldDef[] }): void {
    this.#fields = fields.map(({ name, dataTypeID }) => ({ name, read: readerOf(dataTypeID) }))
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    try {
      const row: Record<string, Value> = {}
      for (let i = 0; i < fields.length; i++) {
        const { name, read } = this.#fields[i] as ReadField
        const text = fields[i]
        row[name] = text === null || text === undefined ? null : read(text)
      }
      this.#rows.push(row)
    } catch (error) {
      this.#unreadable ??= error
    }
  }

  handleCommandComplete(): void {
    const { statement } = this.#ops[this.#results.length] as Op
    if (!this.#known.has(statement)) this.#known.set(statement, { name: this.#nameOf(statement), fields: this.#fields })
    this.#results.push(this.#rows)
    this.#rows = []
    this.#fieldsOfCurrent()
  }

  #fieldsOfCurrent(): void {
    const next = this.#ops[this.#results.length]
    this.#fields = (next && this.#known.get(next.statement)?.fields) ?? []
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete()
  }

  handlePortalSuspended(): void {}

  handleCopyInResponse(): void {}

  handleError(error: Error): void {
    if (this.#failed) return
    this.#failed = true
    const op = this.#ops[this.#results.length]
    if (op && 'severity' in error) error.message = `${op.statement.name}: ${error.message}`
    this.#reject(error)
  }

  handleReadyForQuery(): void {
    if (this.#failed) return
    // Not to be repeated: it was committed.
    if (this.#unreadable)
      this.#reject(new StoreUnavailable(`Committed, but its answer cannot be read: ${this.#unreadable}`))
    else this.#resolve(this.#results)
  }
}

const numbers = new WeakMap<Statement, number>()
let statements = 0

// The comment is for whoever looks into pg_stat_activity.
function textOf(statement: Statement): string {
  const columns = Object.entries(statement.columns)
  const arrays = columns.map(([, type], i) => `$${i + 1}::${type}[]`)
  const names = columns.map(([name]) => `"${name}"`)
  // Texts that come in compare by their bytes, as on SQLite and as our key columns do, whatever the database's own order.
  const taken = columns.map(([name, type]) =>
    type === 'text' ? `u."${name}" collate "C" as "${name}"` : `u."${name}"`,
  )
  const rows =
    columns.length > 0
      ? `(select ${taken.join(', ')} from unnest(${arrays.join(', ')}) as u(${names.join(', ')}))`
      : '(select 1)'
  return `/* ${statement.name} */ ${statement.text(rows)}`
}

const integers = new Set([20, 21, 23, 26])
const numbersOf = new Set([...integers, 700, 701, 1700])

function readerOf(type: number): (text: string) => Value {
  if (type === 16) return (text) => (text === 't' ? 1 : 0) // as SQLite has it
  if (!numbersOf.has(type)) return (text) => text
  return (text) => {
    const value = Number(text)
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new RangeError(`${text} is beyond 2^53-1: store it as text`)
    return value
  }
}
