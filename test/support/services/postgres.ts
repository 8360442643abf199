import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import pg from 'pg'
import { postgresDefaults } from '../../../src/base/store/postgres-defaults.ts'
import { until } from '../wait.ts'
import { startPostgres } from './postgres-server.ts'
import { addressOf, type Service, without } from './service.ts'

export const postgresService: Service<object> = {
  name: 'PostgreSQL',
  variable: 'BELLWIRE_TEST_POSTGRES',
  proves: 'everything that stores in PostgreSQL, and several processes on one database',
  command: 'npm ci --include=optional, or BELLWIRE_TEST_POSTGRES=postgres://user:password@host/database npm test',
  start: startPostgres,
}

/** Returns the server named in BELLWIRE_TEST_POSTGRES, or else one that is started for this run. */
export async function postgres(): Promise<{ readonly url: string }> {
  return { url: await addressOf(postgresService) }
}

/** The reason to skip a test, or false. */
export const withoutPostgres = (): Promise<string | false> => without(postgresService)

/** Returns the address of a new schema, which is dropped after the test or test file that created it. */
export async function freshSchema(): Promise<string> {
  // Each further day costs a partition of each table.
  postgresDefaults.daysAhead = 1
  const url = new URL((await postgres()).url)
  const schema = `test_${randomBytes(6).toString('hex')}`
  after(() => dropSchema(url.href, schema))
  const fresh = new URL(url)
  fresh.searchParams.set('schema', schema)
  return fresh.href
}

/** A lane that is not stopped yet may hold a lock of the schema: then the drop is repeated. */
async function dropSchema(url: string, schema: string, attempts = 5): Promise<void> {
  try {
    await query(url, `set lock_timeout = '5s'; drop schema if exists ${schema} cascade`)
  } catch (error) {
    const isLocked = ['40P01', '55P03'].includes((error as { code?: string }).code ?? '')
    if (!isLocked || attempts === 1) throw error
    await dropSchema(url, schema, attempts - 1)
  }
}

/** Runs SQL on a separate connection. */
export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = await connect(url)
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Opens a session in the schema of the address. The caller ends it. */
export async function connect(url: string): Promise<pg.Client> {
  const plain = new URL(url)
  const schema = plain.searchParams.get('schema')
  plain.searchParams.delete('schema')
  const client = new pg.Client({ connectionString: plain.href, ...(schema && { options: `-c search_path=${schema}` }) })
  client.on('error', () => {})
  await client.connect()
  return client
}

export interface Session {
  readonly client: pg.Client
  /** Resolves when a session of the server waits for a lock of this one. */
  untilBlocking(): Promise<void>
}

/** Opens a session in the schema of the address, as another process does. It ends after the test or test file that opened it. */
export async function openSession(url: string): Promise<Session> {
  const client = await connect(url)
  after(() => client.end())
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const waiting = 'select 1 from pg_stat_activity where $1 = any(pg_blocking_pids(pid))'
  const isBlocking = async (): Promise<boolean> => (await client.query(waiting, [rows[0]?.pid])).rowCount !== 0
  return { client, untilBlocking: async () => void (await until(isBlocking, { awaited: 'a wait for the session' })) }
}
