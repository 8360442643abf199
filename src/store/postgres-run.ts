// Statements as PostgreSQL gets them: each input column is one array, so a set of rows takes one execution.

import { type Client, type ClientBase, type QueryConfig, type QueryResult, types } from 'pg'
import type { Op, Statement, Value } from './database.ts'
import { encodeArray } from './postgres-arrays.ts'
import { StoreUnavailable } from './store-unavailable.ts'

/**
 * Runs these operations in one transaction and one round trip: pg's pipeline mode writes all of them before it reads an answer. An
 * error in any rolls back all. The client must have been made with `pipeline: true`.
 */
export async function runTransaction(client: Client, ops: readonly Op[]): Promise<object[][]> {
  // Encoded before anything is sent: what cannot be encoded leaves no open transaction behind.
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
  // An answer that cannot be read is no reason to repeat the transaction.
  if (last?.status === 'fulfilled' && last.value.command === 'COMMIT')
    throw new StoreUnavailable(`Committed, but its answer cannot be read: ${reason}`)
  throw named(reason, ops[failed - 1])
}

/** Runs one operation that only reads. */
export async function runRead(client: ClientBase, op: Op): Promise<object[]> {
  try {
    return (await client.query(toQuery(op))).rows
  } catch (error) {
    throw named(error, op)
  }
}

function answerOf({ statement, rows }: Op, result: QueryResult<object>): object[] {
  return statement.complete ? [{ complete: result.rowCount === rows.length ? 1 : 0 }] : result.rows
}

function named(error: unknown, op: Op | undefined): unknown {
  if (op && error instanceof Error && 'severity' in error) error.message = `${op.statement.name}: ${error.message}`
  return error
}

function toQuery({ statement, rows }: Op): QueryConfig {
  const { name, text } = preparedOf(statement)
  return { name, text, values: statement.types.map((type, column) => encodeArray(type, rows, column)), types: readers }
}

/** Each connection prepares a statement once, under its name. */
const prepared = new WeakMap<Statement, { readonly name: string; readonly text: string }>()
let count = 0

function preparedOf(statement: Statement): { readonly name: string; readonly text: string } {
  const known = prepared.get(statement)
  if (known) return known
  const made = { name: `b${++count}`, text: textOf(statement) }
  prepared.set(statement, made)
  return made
}

// The comment shows in pg_stat_activity.
function textOf(statement: Statement): string {
  const columns = Object.entries(statement.columns)
  const arrays = columns.map(([, type], i) => `$${i + 1}::${type}[]`)
  const names = columns.map(([name]) => `"${name}"`)
  // Input texts compare by their bytes, as on SQLite and as our key columns do, whatever the order of the database.
  const taken = columns.map(([name, type]) =>
    type === 'text' ? `u."${name}" collate "C" as "${name}"` : `u."${name}"`,
  )
  const rows =
    columns.length > 0
      ? `(select ${taken.join(', ')} from unnest(${arrays.join(', ')}) as u(${names.join(', ')}))`
      : '(select 1)'
  return `/* ${statement.name} */ ${statement.text(rows)}`
}

const { BOOL, INT2, INT4, INT8, OID, FLOAT4, FLOAT8, NUMERIC } = types.builtins
const numbers = new Set<number>([INT2, INT4, INT8, OID, FLOAT4, FLOAT8, NUMERIC])

const readers = {
  getTypeParser(type: number): (text: string) => Value {
    if (type === BOOL) return (text) => (text === 't' ? 1 : 0) // as SQLite has it
    return numbers.has(type) ? readNumber : (text) => text
  },
} as QueryConfig['types'] & object

function readNumber(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(`${text} is beyond 2^53-1: store it as text`)
  return value
}
