import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres, query } from '../../test/support/services/postgres.ts'
import { startPostgres } from '../../test/support/services/postgres-server.ts'

export interface Store {
  /** A value of the setting `store`. */
  readonly url: string
  remove(): Promise<void>
}

export async function sqliteStore(): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'bellwire-bench-'))
  // Also after an aborted benchmark.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return { url: `sqlite:${join(folder, 'bench.db')}`, remove: () => rm(folder, { recursive: true, force: true }) }
}

export const noStore: Store = { url: 'none', remove: async () => {} }

/** A PostgreSQL server of its own, beside that of postgresStore(). */
export async function ownPostgresServer(): Promise<Store> {
  const { address, stop } = await startPostgres()
  return { url: address, remove: stop }
}

/** A new schema in the server of BELLWIRE_TEST_POSTGRES, or in a server that is started for this run. */
export async function postgresStore(): Promise<Store> {
  const { url } = await postgres()
  const schema = `bench_${randomBytes(6).toString('hex')}`
  const own = new URL(url)
  own.searchParams.set('schema', schema)
  return {
    url: own.href,
    async remove() {
      await query(url, `drop schema if exists ${schema} cascade`)
    },
  }
}
