// The table `access_keys`: keys for /admin that were added by a call. Each has only its digest. All processes of the side accept the same ones.

import { hash } from 'node:crypto'
import type { AcceptedKeys } from '../../base/http/accepted-keys.ts'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { createLoop } from '../../base/runtime/loop.ts'
import { ConfigError } from '../../base/runtime/problem.ts'
import { random } from '../../base/runtime/random.ts'
import { commitIfPossible } from '../../base/store/commit-if-possible.ts'
import type { Database, Migration, Op } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'

export const keyMigrations: readonly Migration[] = [
  {
    name: 'access_keys/1',
    statements: ({ key }) => [
      `create table access_keys (
         name ${key} primary key, digest ${key} not null, scopes text not null, brands text, networks text,
         expires_at text, added_by text not null, added_at bigint not null, used_at bigint)`,
    ],
  },
]

/** `scopes`, `brands` and `networks` are JSON. Times without a zone are epoch milliseconds. */
interface KeyRow {
  readonly name: string
  readonly digest: string
  readonly scopes: string
  /** Null: all. */
  readonly brands: string | null
  readonly networks: string | null
  readonly expires_at: string | null
  readonly added_by: string
  readonly added_at: number
  readonly used_at: number | null
}

/** Fails if a key of the store has this name. */
const insertKey = statement({
  name: 'insert_access_key',
  columns: {
    name: 'text',
    digest: 'text',
    scopes: 'text',
    brands: 'text',
    networks: 'text',
    expires_at: 'text',
    added_by: 'text',
    added_at: 'bigint',
  },
  text: (rows) => `
    insert into access_keys (name, digest, scopes, brands, networks, expires_at, added_by, added_at)
    select r.name, r.digest, r.scopes, r.brands, r.networks, r.expires_at, r.added_by, r.added_at from ${rows} r`,
})

/** Waits for a commit of another process that deletes the key. The following statement sees its result. */
const lockKey = statement('lock_access_key', { name: 'text' })`
  update access_keys set name = r.name from ${rows} r where access_keys.name = r.name`

/** Fails if the store does not have the key, or if two callers delete it in one commit: no key is without a digest. */
const demandKey = statement('demand_access_key', { name: 'text' })`
  insert into access_keys (name, digest, scopes, added_by, added_at)
  select r.name, null, '', '', 0 from ${rows} r group by r.name
  having count(*) > 1 or not exists (select 1 from access_keys k where k.name = r.name)`

const noteUses = statement('note_key_uses', { digest: 'text', used_at: 'bigint' })`
  update access_keys set used_at = r.used_at from ${rows} r
  where access_keys.digest = r.digest and coalesce(access_keys.used_at, 0) < r.used_at`

const deleteKey = statement('delete_access_key', { name: 'text' })`
  delete from access_keys where name in (select r.name from ${rows} r)`

const listKeys = statement<KeyRow>('list_access_keys', {})`
  select k.name, k.digest, k.scopes, k.brands, k.networks, k.expires_at, k.added_by, k.added_at, k.used_at
  from access_keys k order by k.name`

const topic = 'access_keys'
/** A wake-up may be lost. */
const rereadMs = 5_000
/** The last use of a key is stored once in this time. */
const noteUseMs = 60_000

/** The places of the configured keys by their names: 'crm' is at 'platform.keys[0]'. */
export type KeyPlaces = ReadonlyMap<string, string>

/** @example keyPlaces({ 'platform.keys': [{ name: 'crm' }] }) // a map from 'crm' to 'platform.keys[0]' */
export const keyPlaces = (
  lists: Readonly<Record<string, readonly { readonly name: string }[] | undefined>>,
): KeyPlaces =>
  new Map(
    Object.entries(lists).flatMap(([setting, keys = []]) =>
      keys.map(({ name }, i) => [name, `${setting}[${i}]`] as const),
    ),
  )

export interface StoredKeys {
  /** @throws ConfigError: a key of the store has the name of one of these */
  demandFree(places: KeyPlaces): void
  /** The configuration has these keys from now on. @throws ConfigError, as demandFree() */
  configure(places: KeyPlaces): void
  /**
   * Adds a key with a random text.
   *
   * @param by the name of the key that adds it
   * @param also committed with it
   * @returns the text, which is stored nowhere
   * @throws HttpError 409: the name is taken
   */
  add(key: Omit<AccessKey, 'key' | 'keySha256'>, by: string, also: () => readonly Op[]): Promise<string>
  /** Removes a key from all processes. @returns false: there is no such key */
  revoke(name: string, also: () => readonly Op[]): Promise<boolean>
  /** The keys of the store, as this process read them last. */
  list(): readonly StoredKey[]
  /** Resolves when the keys are read. @throws ConfigError, as demandFree() */
  start(): Promise<void>
  stop(): Promise<void>
}

export interface StoredKey {
  readonly key: AccessKey
  readonly addedBy: string
  readonly addedAt: number
  /** In any process, to the minute. */
  readonly usedAt: number | undefined
}

/** @param accepted its keys of the source `store` are kept equal to the table */
export function createStoredKeys(
  database: Database,
  side: 'operator' | 'platform',
  accepted: AcceptedKeys<AccessKey>,
  configured: KeyPlaces,
): StoredKeys {
  let places = configured
  let known: readonly StoredKey[] = []
  const reported = new Set<string>()
  const loop = createLoop('keys of the store', async () => {
    await read()
    await storeUses()
    return rereadMs
  })
  const unsubscribe = database.onWake(topic, loop.wake)

  async function read(): Promise<void> {
    known = (await database.read(op(listKeys, [[]]))).map(readRow)
    accept()
  }

  function accept(): void {
    for (const { key } of known) {
      const place = places.get(key.name)
      if (place === undefined) reported.delete(key.name)
      else if (!reported.has(key.name)) {
        reported.add(key.name)
        emit('key.name_taken', { name: key.name, place })
      }
    }
    accepted.replace(
      known.map(({ key }) => key).filter(({ name }) => !places.has(name)),
      'store',
    )
  }

  async function storeUses(): Promise<void> {
    const stored = new Map(known.map(({ key, usedAt }) => [key.keySha256, usedAt ?? 0]))
    const used = accepted.list().flatMap(({ key, source, lastUsedAt = 0 }) => {
      const before = stored.get(key.keySha256)
      const isNew = source === 'store' && before !== undefined && lastUsedAt >= before + noteUseMs
      return isNew ? [[key.keySha256 as string, lastUsedAt] as const] : []
    })
    if (used.length > 0) await database.commit([op(noteUses, used)])
  }

  function demandFree(wanted: KeyPlaces): void {
    const taken = known.flatMap(({ key: { name } }) => {
      const path = wanted.get(name)
      return path === undefined ? [] : [{ name, path }]
    })
    if (taken.length === 0) return
    throw new ConfigError(
      taken.map(({ name, path }) => ({
        path: `${path}.name`,
        where: side,
        description: `the store of the ${side} has a key with the name ${JSON.stringify(name)} already (access_keys)`,
        remedy: 'choose another name here, or revoke the key of the store first: bellwire keys revoke',
      })),
    )
  }

  const nameTaken = (name: string, place: string): HttpError =>
    new HttpError(409, `name: ${JSON.stringify(name)} is the name of a key already, at ${place}: choose another name`)

  return {
    demandFree,
    configure(next) {
      demandFree(next)
      places = next
      accept()
    },
    async add({ name, scopes, brands, from, expiresAt }, by, also) {
      await read()
      const place = places.get(name) ?? (known.some(({ key }) => key.name === name) ? 'the store' : undefined)
      if (place !== undefined) throw nameTaken(name, place)
      const text = random.bytes(24).toString('hex')
      const row = [
        ...[name, hash('sha256', text), JSON.stringify(scopes), toJson(brands), toJson(from), expiresAt ?? null],
        ...[by, clock.now()],
      ]
      if (!(await commitIfPossible(database, [op(insertKey, [row]), database.wake(topic), ...also()])))
        throw nameTaken(name, 'the store')
      await read()
      return text
    },
    async revoke(name, also) {
      await read()
      if (!known.some(({ key }) => key.name === name)) return false
      const removals = [lockKey, demandKey, deleteKey].map((each) => op(each, [[name]]))
      const ops = [...removals, database.wake(topic), ...also()]
      const revoked = await commitIfPossible(database, ops)
      await read()
      return revoked
    },
    list: () => known,
    async start() {
      // A store that is away now is read by the loop.
      await read().catch(() => {})
      demandFree(places)
      loop.start()
    },
    async stop() {
      unsubscribe()
      await loop.stop()
    },
  }
}

const toJson = (list: readonly string[] | undefined): string | null => (list ? JSON.stringify(list) : null)

const readRow = (row: KeyRow): StoredKey => ({
  key: {
    name: row.name,
    keySha256: row.digest,
    scopes: JSON.parse(row.scopes) as AccessKey['scopes'],
    ...(row.brands !== null && { brands: JSON.parse(row.brands) as string[] }),
    ...(row.networks !== null && { from: JSON.parse(row.networks) as string[] }),
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
  },
  addedBy: row.added_by,
  addedAt: row.added_at,
  usedAt: row.used_at ?? undefined,
})
