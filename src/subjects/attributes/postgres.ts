// The operator's own PostgreSQL database, opened read-only.

import type pg from 'pg'
import { configOf, withStartupSchema } from '../../base/store/postgres-address.ts'
import { cancelQuery } from '../../base/store/postgres-cancel.ts'
import { createClient } from '../../base/store/postgres-client.ts'
import { createReaders, type RunQuery } from '../../base/store/postgres-readers.ts'
import type { Field, LookUp, Snapshot } from './attribute-source.ts'
import { copyIds } from './copy-ids.ts'
import { type IdKind, kindOf } from './postgres-ids.ts'
import { bindBrand } from './sql-text.ts'

const connectMs = 5_000
/** More concurrent look-ups would only wait inside the server. */
const connections = 4
/** The data of a standby is as old as the last transaction that it has replayed. The statement begins before its snapshot is taken. */
const serverClock =
  'select case when pg_is_in_recovery() then pg_last_xact_replay_timestamp() else statement_timestamp() end'

export interface Query {
  readonly field: Field
  readonly text: string
}

interface Found {
  readonly field: Field
  readonly user: string
}

interface Age {
  readonly asOf?: string | undefined
  readonly maxLagMs?: number | undefined
}

export function openPostgres(url: string, { asOf = serverClock, maxLagMs }: Age) {
  const { options, ...address } = withStartupSchema(configOf(url))
  const config: pg.ClientConfig = {
    ...address,
    options: `${options ?? ''} -c default_transaction_read_only=on`,
    application_name: 'bellwire attributes',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
  }
  const readers = createReaders({ ...config, max: connections })
  const kinds = new Map<string, IdKind>()

  return {
    // One query for all fields and the time of the data, so that all are answered from one snapshot. The time is its first row.
    async findUsers(brand: string, users: readonly string[], queries: readonly Query[], lookUp: LookUp) {
      const storable = users.filter((user) => !user.includes('\0') && user.isWellFormed())
      if (storable.length === 0 || queries.length === 0) return []
      return readers.use(lookUp, async (run) => {
        if (maxLagMs !== undefined) await checkAge(run, asOf, maxLagMs)
        const bound = queries.map(({ field, text }) => ({ field, text: bindBrand(text, brand) }))
        for (const { field, text } of bound) if (!kinds.has(text)) kinds.set(text, await kindOf(run, field, text))
        const ids = bound.map(({ text }) => kinds.get(text) as IdKind)
        const query = `with ${bound.map(({ text }, n) => `q${n}(id) as (${text}\n)`).join(', ')}
          select null as field, floor(extract(epoch from (${asOf}\n)::timestamptz) * 1000)::bigint::text as "user" union all
          ${bound.map(({ field }, n) => `select '${field}' as field, id::text as "user" from q${n} where ${ids[n]?.among(n + 1)}`).join(' union all ')}`
        const parameters = ids.map(({ fits }) => storable.filter(fits))
        try {
          const [age, ...found] = (await run<Found>(query, parameters)).rows
          if (age && age.user !== null) lookUp.noteAsOf?.(Number(age.user))
          return found
        } catch (error) {
          kinds.clear() // the type of a column may have changed
          throw error
        }
      })
    },

    async list(brand: string, { field, text }: Query, signal: AbortSignal): Promise<Snapshot> {
      signal.throwIfAborted()
      const client = createClient(config)
      const run: RunQuery = (statement) => client.query(statement)
      const cancel = (): void => cancelQuery(client)
      signal.addEventListener('abort', cancel, { once: true })
      try {
        await client.connect()
        // Makes the server end the query by itself if this process is killed or loses its connection.
        await run(
          "select set_config(name, '2s', false) from pg_settings where name = 'client_connection_check_interval'",
        )
        const query = bindBrand(text, brand)
        await kindOf(run, field, query)
        // Read before the snapshot is taken, so that the list contains every transaction committed by this time.
        const timestamp = await timeOf(run, asOf)
        await run('begin isolation level repeatable read read only')
        const copy = `copy (with q(id) as (${query}\n) select id::text from q) to stdout`
        return { timestamp, chunks: readCopy(client, copy, signal) }
      } catch (error) {
        cancel()
        throw error
      } finally {
        signal.removeEventListener('abort', cancel)
      }
    },

    close: () => readers.close(),
  }

  async function* readCopy(client: pg.Client, copy: string, signal: AbortSignal): Snapshot['chunks'] & AsyncGenerator {
    let complete = false
    try {
      yield* copyIds(client, copy, signal)
      complete = true
    } finally {
      if (complete) await client.end()
      else cancelQuery(client)
    }
  }
}

/** ISO 8601 in UTC, with microseconds. */
async function timeOf(run: RunQuery, asOf: string): Promise<string> {
  const { rows } = await run<{ at: string | null }>(
    `select to_char((${asOf}\n)::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`,
  )
  const at = rows[0]?.at
  if (typeof at === 'string') return at
  throw new Error('the age of the data is unknown: the query as_of returned no time')
}

async function checkAge(run: RunQuery, asOf: string, maxLagMs: number): Promise<void> {
  const { rows } = await run<{ lag: number | null }>(
    `select (extract(epoch from clock_timestamp() - (${asOf}\n)::timestamptz) * 1000)::float8 as lag`,
  )
  const lag = rows[0]?.lag ?? Number.POSITIVE_INFINITY
  if (lag > maxLagMs) throw new Error(`the data is ${Math.round(lag)} ms old; max_lag is ${maxLagMs} ms`)
}
