// Runs statements on PostgreSQL: each input column is one array parameter, so a set of rows takes one execution.

import { type Client, type ClientBase, type QueryConfig, type QueryResult, types } from 'pg'
import type { Op, Statement, Value } from './database.ts'
import { encodeArray } from './postgres-arrays.ts'
import { StoreUnavailable } from './store-unavailable.ts'

/**
 * Runs the operations in one transaction and one round trip: pg's pipeline mode writes all queries before it reads an answer. An
 * error in one rolls back all. The client must have been created with `pipeline: true`.
 */
export async function runTransaction(client: Client, ops: readonly Op[]): Promise<object[][]> {
  const [first] = ops
  // A query is a transaction by itself. A change is not run in this way: its answer may be unreadable although it was committed.
  if (first && ops.length === 1 && !first.statement.changes) return [await runRead(client, first)]
  // Encodes before sending, so that an encoding error leaves no open transaction.
  const queries = ops.map(toQuery)
  const { stream } = client.connection
  stream.cork()
  const sent = [client.query('begin'), ...queries.map((query) => client.query(query)), client.query('commit')]
  stream.uncork()
  const ended = await Promise.allSettled(sent)
  const failed = ended.findIndex(({ status }) => status === 'rejected')
  if (failed < 0)
    return ops.map((op, i) => answerOf(op, (ended[i + 1] as PromiseFulfilledResult<QueryResult<object>>).value))
  const { reason } = ended[failed] as PromiseRejectedResult
  const last = ended.at(-1)
  // The transaction is committed, so an unreadable answer must not cause a repetition.
  if (last?.status === 'fulfilled' && last.value.command === 'COMMIT')
    throw new StoreUnavailable(`PostgreSQL: committed, but the answer cannot be read: ${reason}`)
  throw addStatementName(reason, ops[failed - 1])
}

/** Runs one read-only operation. */
export async function runRead(client: ClientBase, op: Op): Promise<object[]> {
  try {
    return (await client.query(toQuery(op))).rows
  } catch (error) {
    throw addStatementName(error, op)
  }
}

/** Runs read-only operations as one statement, which is not prepared: each caller may have another set of them. */
export async function runReads(client: ClientBase, ops: readonly Op[]): Promise<readonly (readonly object[])[]> {
  const [first] = ops
  if (first && ops.length === 1) return [await runRead(client, first)]
  const values = ops.map(valuesOf)
  const texts = ops.map(({ statement }, i) => textOf(statement, values.slice(0, i).flat().length))
  const { rows } = await client.query<Record<string, string | null>>({
    text: `select ${texts.map((text, i) => `(select json_agg(q${i}) from (${text}) q${i}) as p${i}`).join(', ')}`,
    values: values.flat(),
    types: readers,
  })
  return ops.map((_, i) => JSON.parse(rows[0]?.[`p${i}`] ?? '[]', readMember))
}

/** As `readers` does. */
const readMember = (_name: string, value: unknown): unknown =>
  typeof value === 'boolean' ? Number(value) : typeof value === 'number' ? readNumber(String(value)) : value

function answerOf({ statement, rows }: Op, result: QueryResult<object>): object[] {
  return statement.complete ? [{ complete: result.rowCount === rows.length ? 1 : 0 }] : result.rows
}

function addStatementName(error: unknown, op: Op | undefined): unknown {
  if (op && error instanceof Error && 'severity' in error) error.message = `${op.statement.name}: ${error.message}`
  return error
}

const toQuery = (op: Op): QueryConfig => ({ ...preparedOf(op.statement), values: valuesOf(op), types: readers })

const valuesOf = ({ statement, rows }: Op): Buffer[] =>
  statement.types.map((type, column) => encodeArray(type, rows, column))

/** Each connection prepares a statement once, under its name. */
const prepared = new WeakMap<Statement, { readonly name: string; readonly text: string }>()
let count = 0

function preparedOf(statement: Statement): { readonly name: string; readonly text: string } {
  const known = prepared.get(statement)
  if (known) return known
  const created = { name: `b${++count}`, text: textOf(statement) }
  prepared.set(statement, created)
  return created
}

// pg_stat_activity shows the comment.
function textOf(statement: Statement, parametersBefore = 0): string {
  const columns = Object.entries(statement.columns)
  const arrays = columns.map(([, type], i) => `$${parametersBefore + i + 1}::${type}[]`)
  const names = columns.map(([name]) => `"${name}"`)
  // Input texts compare bytewise, as on SQLite and in our key columns, whatever the collation of the database.
  const selected = columns.map(([name, type]) =>
    type === 'text' ? `u."${name}" collate "C" as "${name}"` : `u."${name}"`,
  )
  const rows =
    columns.length > 0
      ? `(select ${selected.join(', ')} from unnest(${arrays.join(', ')}) as u(${names.join(', ')}))`
      : '(select 1)'
  return `/* ${statement.name} */ ${statement.text(rows)}`
}

const { BOOL, INT2, INT4, INT8, OID, FLOAT4, FLOAT8, NUMERIC } = types.builtins
const numbers = new Set<number>([INT2, INT4, INT8, OID, FLOAT4, FLOAT8, NUMERIC])

const readers = {
  getTypeParser(type: number): (text: string) => Value {
    if (type === BOOL) return (text) => (text === 't' ? 1 : 0) // as on SQLite
    return numbers.has(type) ? readNumber : (text) => text
  },
} as QueryConfig['types'] & object

function readNumber(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(`${text} exceeds 2^53-1: store it as text`)
  return value
}
