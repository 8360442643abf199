// Connections to PostgreSQL. Of an address with several servers, each connection goes to the server that accepts writes.

import pg from 'pg'
import { messageOf } from '../runtime/message-of.ts'
import type { PostgresConfig } from './postgres-address.ts'
import { StoreUnavailable } from './store-unavailable.ts'

export type StoreClientConfig = pg.ClientConfig &
  Partial<Pick<PostgresConfig, 'servers' | 'schema'>> & {
    /** Settings of the session: 'statement_timeout = 0'. */
    readonly settings?: readonly string[]
  }

export const createClient = (config: StoreClientConfig): pg.Client =>
  new StoreClient({ keepAlive: true, connectionTimeoutMillis: 10_000, ...config })

/** Connects a client, and prepares the connection. Ends it if that fails. */
export async function connected<Of>(client: pg.Client, prepare: () => Promise<Of>): Promise<Of> {
  try {
    await client.connect()
    return await prepare()
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/** Does some work on a connection of its own. */
export async function withClient<Of>(config: StoreClientConfig, work: (client: pg.Client) => Promise<Of>): Promise<Of> {
  const client = createClient(config)
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

export async function inTransaction<Result>(client: pg.Client, work: () => Promise<Result>): Promise<Result> {
  await client.query('begin')
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** A server that is silent for this long is treated as away. */
const probeMs = 2_000

/** Connects to the primary server, and sets schema and settings by a statement: PgBouncer refuses or ignores most startup parameters. */
export class StoreClient extends pg.Client {
  readonly #config: StoreClientConfig

  constructor(config: StoreClientConfig = {}) {
    super(config)
    this.#config = config
    // An error also rejects the running call. Without a listener, one that arrives between two calls would end the process: the pool
    // has no listener on a client in use.
    this.on('error', () => {})
  }

  override connect(): Promise<this>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<this> | undefined {
    const connecting = this.#connect()
    if (!callback) return connecting
    // pg-pool calls it so. Its error is absent after success.
    connecting.then(() => (callback as () => void)(), callback)
    return undefined
  }

  async #connect(): Promise<this> {
    const { servers = [], schema, settings = [] } = this.#config
    if (servers.length > 1) {
      const { hostname, port } = new URL(await findPrimary(this.#config))
      Object.assign(this, { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 5432) })
    }
    await super.connect()
    const all = [...(schema ? [`search_path = ${schema}`] : []), ...settings]
    if (all.length === 0) return this
    try {
      await this.query(all.map((setting) => `set ${setting}`).join('; '))
      return this
    } catch (error) {
      await this.end().catch(() => {})
      throw error
    }
  }
}

interface Role {
  readonly server: string
  /** Hexadecimal. A promotion begins the next one. */
  readonly timeline: string
}

/** Of two servers that accept writes, the one that was promoted last: the other one was not stopped. */
async function findPrimary({ servers = [], schema: _, settings: __, ...config }: StoreClientConfig): Promise<string> {
  const probes = await Promise.allSettled(
    servers.map((server) => probe({ ...config, connectionString: server }, server)),
  )
  const primaries = probes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const [primary] = primaries.sort((a, b) => b.timeline.localeCompare(a.timeline))
  if (primary) return primary.server
  const reasons = probes.map(
    (each, i) => `${new URL(servers[i] as string).host}: ${messageOf((each as PromiseRejectedResult).reason)}`,
  )
  throw new StoreUnavailable(`PostgreSQL: no server accepts writes (${reasons.join('; ')})`)
}

function probe(config: pg.ClientConfig, server: string): Promise<Role> {
  const bounds = { connectionTimeoutMillis: probeMs, query_timeout: probeMs }
  return withClient({ ...config, ...bounds, application_name: 'bellwire probe' }, async (client) => {
    const { rows } = await client.query<{ timeline: string | null }>(
      `select case when not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off'
         then substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) end as timeline`,
    )
    const timeline = rows[0]?.timeline
    if (!timeline) throw new Error('is read-only')
    return { server, timeline }
  })
}
