import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres, query } from '../../test/support/services/postgres.ts'
import { startPostgres } from '../../test/support/services/postgres-server.ts'

export interface Store extends AsyncDisposable {
  /** A value of the setting `store`. */
  readonly url: string
  remove(): Promise<void>
}

/** A store that `await using` removes, too. */
export const storeAt = (url: string, remove = async (): Promise<void> => {}): Store => ({
  url,
  remove,
  [Symbol.asyncDispose]: remove,
})

export async function sqliteStore(): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'bellwire-bench-'))
  // Also after an aborted benchmark.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return storeAt(`sqlite:${join(folder, 'bench.db')}`, () => rm(folder, { recursive: true, force: true }))
}

export const noStore = storeAt('none')

/** A PostgreSQL server of its own, beside that of postgresStore(). */
export async function ownPostgresServer(): Promise<Store> {
  const { address, stop } = await startPostgres()
  return storeAt(address, stop)
}

/** A new schema in the server of BELLWIRE_TEST_POSTGRES, or in a server that is started for this run. */
export async function postgresStore(): Promise<Store> {
  const { url } = await postgres()
  const schema = `bench_${randomBytes(6).toString('hex')}`
  const own = new URL(url)
  own.searchParams.set('schema', schema)
  return storeAt(own.href, async () => void (await query(url, `drop schema if exists ${schema} cascade`)))
}
