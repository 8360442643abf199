// The operator's own PostgreSQL, only read.

import pg from 'pg'
import { configOf } from '../store/postgres-address.ts'
import type { Snapshot } from './attribute-source.ts'
import { copyIds } from './copy-ids.ts'
import { cancelQuery } from './postgres-cancel.ts'
import { type IdKind, kindOf } from './postgres-ids.ts'
import { createReaders } from './postgres-readers.ts'
import type { Engine, EngineOptions, Found } from './sql.ts'
import { bindBrand } from './sql-text.ts'

const connectMs = 5_000
/** On a standby the data is as old as the last transaction that it has replayed. */
const serverClock =
  'select case when pg_is_in_recovery() then pg_last_xact_replay_timestamp() else clock_timestamp() end'

export function openPostgres(url: string, { asOf = serverClock, maxLagMs }: EngineOptions): Engine {
  const { schema: _, options, ...address } = configOf(url)
  const config: pg.ClientConfig = {
    ...address,
    options: `${options ?? ''} -c default_transaction_read_only=on`,
    application_name: 'bellwire attributes',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
  }
  const readers = createReaders(config)
  const kinds = new Map<string, IdKind>()

  return {
    // One query for all fields: they are answered as of one moment.
    async look(brand, users, queries, lookUp) {
      const asked = users.filter((user) => !user.includes('\0') && user.isWellFormed())
      if (asked.length === 0 || queries.length === 0) return []
      return readers.use(lookUp, async (client) => {
        if (maxLagMs !== undefined) await refuseOld(client, asOf, maxLagMs)
        const bound = queries.map(({ field, text }) => ({ field, text: bindBrand(text, brand) }))
        for (const { field, text } of bound) if (!kinds.has(text)) kinds.set(text, await kindOf(client, field, text))
        const ids = bound.map(({ text }) => kinds.get(text) as IdKind)
        const query = `with ${bound.map(({ text }, n) => `q${n}(id) as (${text}\n)`).join(', ')}
          ${bound.map(({ field }, n) => `select '${field}' as field, id::text as "user" from q${n} where ${ids[n]?.among(n + 1)}`).join(' union all ')}`
        const parameters = ids.map(({ fits }) => asked.filter(fits))
        try {
          return (await client.query<Found>(query, parameters)).rows
        } catch (error) {
          kinds.clear() // a column may have another type by now
          throw error
        }
      })
    },

    async list(brand, { field, text }, signal): Promise<Snapshot> {
      signal.throwIfAborted()
      const client = new pg.Client(config)
      client.on('error', () => {})
      const destroy = (): void => void client.connection.stream.destroy()
      signal.addEventListener('abort', destroy, { once: true })
      try {
        await client.connect()
        const query = bindBrand(text, brand)
        await kindOf(client, field, query)
        // Before the snapshot: whatever was committed by this time is in the list.
        const timestamp = await timeOf(client, asOf)
        await client.query('begin isolation level repeatable read read only')
        // The server itself ends the query of a process that was killed or cut off and cannot cancel any more.
        await client.query(
          "select set_config(name, '2s', true) from pg_settings where name = 'client_connection_check_interval'",
        )
        const copy = `copy (with q(id) as (${query}\n) select id::text from q) to stdout`
        return { timestamp, chunks: copied(client, copy, signal) }
      } catch (error) {
        destroy()
        throw error
      } finally {
        signal.removeEventListener('abort', destroy)
      }
    },

    close: () => readers.close(),
  }

  async function* copied(client: pg.Client, copy: string, signal: AbortSignal): Snapshot['chunks'] & AsyncGenerator {
    let whole = false
    try {
      yield* copyIds(client, copy, signal)
      whole = true
    } finally {
      if (whole) await client.end()
      else cancelQuery(client)
    }
  }
}

/** ISO 8601 in UTC, with microseconds. */
async function timeOf(client: pg.Client, asOf: string): Promise<string> {
  const { rows } = await client.query<{ at: string | null }>(
    `select to_char((${asOf}\n)::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`,
  )
  const at = rows[0]?.at
  if (typeof at === 'string') return at
  throw new Error('the database cannot tell how old its data is: as_of gave no time')
}

async function refuseOld(client: pg.ClientBase, asOf: string, maxLagMs: number): Promise<void> {
  const { rows } = await client.query<{ lag: number | null }>(
    `select (extract(epoch from clock_timestamp() - (${asOf}\n)::timestamptz) * 1000)::float8 as lag`,
  )
  const lag = rows[0]?.lag ?? Number.POSITIVE_INFINITY
  if (lag > maxLagMs) throw new Error(`its data is ${Math.round(lag)} ms old, and max_lag is ${maxLagMs} ms`)
}
