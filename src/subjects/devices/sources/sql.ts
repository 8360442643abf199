import { DatabaseSync } from 'node:sqlite'
import { clock } from '../../../base/runtime/clock.ts'
import { configOf, withStartupSchema } from '../../../base/store/postgres-address.ts'
import { createReaders } from '../../../base/store/postgres-readers.ts'
import type { DeviceSource } from '../device-source.ts'
import { type FindDevices, type FindHolders, functionDevices } from './function.ts'
import type { DeviceRecord } from './rows.ts'

export interface SqlDevices {
  /** 'postgres://…' or 'sqlite:PATH'. Opened read-only. */
  readonly database: string
  /**
   * A query for the devices of the users in `:users`, with the columns user_id, token, kind (or provider) and, optionally, app,
   * environment and linked_at. `:brand` is the brand as text, for a database that serves several brands.
   */
  readonly devices: string
  /** A query for the tokens in `:tokens`, with the same columns; user_id is null for a known token that belongs to nobody. */
  readonly holders?: string
  readonly timeoutMs?: number
  /** The most connections to PostgreSQL. */
  readonly connections?: number
}

/**
 * Reads devices from the operator's own database, with one query for all users of a batch. `:users` and `:tokens` are arrays of
 * text in PostgreSQL and JSON arrays in SQLite.
 *
 * @example
 * sqlDevices({ database: 'postgres://reader@db/shop', devices: 'select user_id, token, kind from devices where user_id = any(:users)' })
 * sqlDevices({ database: 'sqlite:shop.db', devices: 'select … where user_id in (select value from json_each(:users))' })
 */
export function sqlDevices(options: SqlDevices): DeviceSource {
  const { database, devices, holders, timeoutMs = 5_000, connections = 4 } = options
  const open = database.startsWith('sqlite:') ? openSqlite : openPostgres
  const reader = open(database, timeoutMs, connections)
  const name = `sql ${database.startsWith('sqlite:') ? 'sqlite' : 'postgres'}`
  const findByUsers = reader.prepare(requireParameter(devices, 'users'))
  const findByTokens = holders === undefined ? undefined : reader.prepare(requireParameter(holders, 'tokens'))
  return { ...functionDevices(findByUsers, findByTokens, name), close: reader.close }
}

interface Reader {
  prepare(text: string): FindDevices & FindHolders
  close(): Promise<void>
}

const parameter = /(?<![:\w]):(brand|users|tokens)\b/g

/** Rejects a query without the parameter, because it would read the whole table for every batch. */
function requireParameter(text: string, name: 'users' | 'tokens'): string {
  if ([...text.matchAll(parameter)].some((match) => match[1] === name)) return text
  throw new Error(`the query for devices lacks the parameter :${name}: filter by it, as in user_id = any(:users)`)
}

/** Replaces the named parameters by PostgreSQL's numbered ones. @returns the query, and the names in order */
function numberParameters(text: string): { text: string; names: string[] } {
  const names: string[] = []
  const written = text.replace(parameter, (_match, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}::${name === 'brand' ? 'text' : 'text[]'}`
  })
  return { text: written, names }
}

function openPostgres(url: string, timeoutMs: number, connections: number): Reader {
  const readers = createReaders({
    ...withStartupSchema(configOf(url)),
    max: connections,
    application_name: 'bellwire devices',
    connectionTimeoutMillis: timeoutMs,
  })
  return {
    prepare(query) {
      const { text, names } = numberParameters(query)
      return (brand, values, { deadline, signal }) =>
        readers.use({ deadline: Math.min(deadline, clock.now() + timeoutMs), signal }, async (run) => {
          const bound = names.map((name) => (name === 'brand' ? brand : values))
          return (await run<DeviceRecord>(text, bound)).rows
        })
    },
    close: () => readers.close(),
  }
}

function openSqlite(url: string, timeoutMs: number): Reader {
  const db = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true, timeout: timeoutMs })
  return {
    prepare(query) {
      const statement = db.prepare(query)
      statement.setAllowUnknownNamedParameters(true) // no query uses all three parameters
      return async (brand, values) => {
        const list = JSON.stringify(values)
        return statement.all({ brand, users: list, tokens: list }) as unknown as DeviceRecord[]
      }
    },
    close: async () => db.close(),
  }
}
