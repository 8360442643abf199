import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { configOf } from '../../store/postgres-address.ts'
import type { DeviceSource, LookUp } from '../device-source.ts'
import { devicesFrom, holdersFrom } from './rows.ts'

export interface SqlDevices {
  /** 'postgres://…' or 'sqlite:PATH'. It is only read. */
  readonly database: string
  /**
   * The devices of the users in `:users`, with the columns user_id, token, kind (or provider) and, where there are such,
   * app, environment, linked_at. `:brand` is the brand as text, where one database serves several.
   */
  readonly devices: string
  /** Whose the tokens in `:tokens` are, with the same columns; user_id is null where a token is known and nobody's. */
  readonly holders?: string
  readonly timeoutMs?: number
  /** PostgreSQL: at most so many connections. */
  readonly connections?: number
}

/**
 * Devices that the operator's own database knows: one query for all users of a flush. On PostgreSQL `:users` and
 * `:tokens` are arrays of text, on SQLite JSON arrays.
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
  const ofUsers = reader.prepare(needing(devices, 'users'))
  const ofTokens = holders === undefined ? undefined : reader.prepare(needing(holders, 'tokens'))
  return {
    name,
    async of(brand, userIds, look) {
      if (userIds.length === 0) return new Map()
      return devicesFrom(name, brand, userIds, await within(ofUsers(brand, userIds), look))
    },
    async holders(brand, tokens, look) {
      if (!ofTokens || tokens.length === 0) return new Map()
      return holdersFrom(name, brand, tokens, await within(ofTokens(brand, tokens), look))
    },
    close: reader.close,
  }
}

type Ask = (brand: string, asked: readonly string[]) => Promise<readonly object[]>
interface Reader {
  prepare(text: string): Ask
  close(): Promise<void>
}

const parameter = /(?<![:\w]):(brand|users|tokens)\b/g

/** A query without it would read the whole table at each flush. */
function needing(text: string, name: 'users' | 'tokens'): string {
  if ([...text.matchAll(parameter)].some((match) => match[1] === name)) return text
  throw new Error(`the query for devices has no :${name} in it: ask only for those, as in user_id = any(:users)`)
}

/** The query with PostgreSQL's own parameters, and which they are, in order. */
function numbered(text: string): { text: string; names: string[] } {
  const names: string[] = []
  const written = text.replace(parameter, (_match, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}::${name === 'brand' ? 'text' : 'text[]'}`
  })
  return { text: written, names }
}

function openPostgres(url: string, timeoutMs: number, connections: number): Reader {
  const config = configOf(url)
  const pool = new pg.Pool({
    ...config,
    max: connections,
    application_name: 'bellwire devices',
    connectionTimeoutMillis: timeoutMs,
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs + 1_000,
    options: [config.options, '-c default_transaction_read_only=on'].filter(Boolean).join(' '),
    keepAlive: true,
  })
  // A connection that is lost while nobody uses it is opened again when somebody does.
  pool.on('error', () => {})
  return {
    prepare(query) {
      const { text, names } = numbered(query)
      return async (brand, asked) =>
        (
          await pool.query<object>(
            text,
            names.map((name) => (name === 'brand' ? brand : asked)),
          )
        ).rows
    },
    close: () => pool.end(),
  }
}

function openSqlite(url: string, timeoutMs: number): Reader {
  const db = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true, timeout: timeoutMs })
  return {
    prepare(query) {
      const statement = db.prepare(query)
      statement.setAllowUnknownNamedParameters(true) // no query names all three
      return async (brand, asked) => {
        const list = JSON.stringify(asked)
        return statement.all({ brand, users: list, tokens: list })
      }
    },
    close: async () => db.close(),
  }
}

/** PostgreSQL ends a query itself that takes too long; nobody waits for that who has no time left. */
async function within<T>(asking: Promise<T>, { deadline, signal }: LookUp): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const stop = (): void => reject(new Error('stopping: the question for devices was given up'))
  const timer = setTimeout(
    () => reject(new Error('the database has not told the devices in time: is there an index for the query?')),
    Math.max(0, deadline - Date.now()),
  )
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  asking.catch(() => {}) // it may fail when nobody waits any more
  try {
    return await Promise.race([asking, late])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
