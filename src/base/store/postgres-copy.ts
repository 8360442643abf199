// Copies rows from one PostgreSQL database to another. The rows flow through this process and are never all in memory.

import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { configOf } from './postgres-address.ts'
import { connected, createClient } from './postgres-client.ts'
import { toCallerError } from './postgres-errors.ts'

/** A connection of a command. It has no timeouts, because copying many rows takes minutes. */
export async function openClient(url: string, name: string): Promise<pg.Client> {
  const client = createClient({ ...configOf(url), application_name: name })
  client.setTypeParser(pg.types.builtins.INT8, Number)
  await connected(client, () =>
    client.query(
      'set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set idle_session_timeout = 0; set synchronous_commit = on',
    ),
  ).catch((error: unknown) => {
    throw toCallerError(error)
  })
  return client
}

/**
 * Copies the rows of a query into a table. The columns have the same types on both sides.
 *
 * @returns the number of rows
 * @example await copyRows(source, 'select t.seq + 100, t.lane from items t', target, 'items (seq, lane)')
 */
export async function copyRows(source: pg.Client, query: string, target: pg.Client, into: string): Promise<number> {
  const output = source.query(copyTo(`copy (${query}) to stdout (format binary)`))
  const input = target.query(copyFrom(`copy ${into} from stdin (format binary)`))
  await pipeline(output, input)
  if (output.rowCount !== input.rowCount)
    throw new Error(`${output.rowCount} rows were read for ${into}, but ${input.rowCount} were written`)
  return input.rowCount
}
