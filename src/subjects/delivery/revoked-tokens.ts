// The table `revoked_tokens`: the users whose subscriber tokens were revoked, each with the time before which no token is accepted.
// The rows have a digest in place of the user. A row is needed for as long as the longest token lives.

import { hash } from 'node:crypto'
import { longestTokenSeconds, type TokenRevocations } from '../../base/http/subscriber-token.ts'
import { clock } from '../../base/runtime/clock.ts'
import { createLoop } from '../../base/runtime/loop.ts'
import type { Database, Migration, Op } from '../../base/store/database.ts'
import { op, statement } from '../../base/store/statement.ts'

export const revocationMigrations: readonly Migration[] = [
  {
    name: 'revoked_tokens/1',
    statements: ({ key }) => [
      `create table revoked_tokens (brand ${key} not null, digest ${key} primary key, before bigint not null)`,
    ],
    brandTables: [{ table: 'revoked_tokens', brand: 'brand' }],
  },
]

const revokeTokens = statement({
  name: 'revoke_tokens',
  columns: { brand: 'text', digest: 'text', before: 'bigint' },
  text: (rows) => `
    insert into revoked_tokens (brand, digest, before) select r.brand, r.digest, r.before from ${rows} r where true
    on conflict (digest) do update set before = excluded.before where revoked_tokens.before < excluded.before`,
})

const forgetRevokedTokens = statement({
  name: 'forget_revoked_tokens',
  columns: { before: 'bigint' },
  text: (rows) => `delete from revoked_tokens where before < (select min(r.before) from ${rows} r)`,
})

const listRevokedTokens = statement<{ readonly digest: string; readonly before: number }>({
  name: 'list_revoked_tokens',
  columns: {},
  text: () => 'select digest, before from revoked_tokens',
})

const topic = 'revoked_tokens'
/** A wake-up may be lost. */
const rereadMs = 5_000
const keptMs = (longestTokenSeconds + 60) * 1_000

export interface Revocations extends TokenRevocations {
  /**
   * Refuses all tokens of the user that were issued until now, in all processes.
   *
   * @param also committed with it
   * @returns the time before which tokens are refused, in epoch milliseconds
   */
  revoke(database: Database, brand: string, userId: string, also: readonly Op[]): Promise<number>
  /** Resolves when the revocations are read. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** @param databases of all brands with subscribers */
export function createRevocations(databases: readonly Database[]): Revocations {
  const known = new Map<Database, ReadonlyMap<string, number>>()
  const listeners: (() => void)[] = []
  const loop = createLoop({
    name: 'revoked tokens',
    async turn() {
      await readAll()
      return rereadMs
    },
  })
  const unsubscribe = databases.map((database) => database.onWake(topic, loop.wake))

  async function readAll(): Promise<void> {
    const read = await Promise.allSettled(databases.map(readRevoked))
    const failed = read.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  async function readRevoked(database: Database): Promise<void> {
    const rows = await database.read(op(listRevokedTokens, [[]]))
    const before = known.get(database)
    known.set(database, new Map(rows.map((row) => [row.digest, row.before])))
    if (rows.some((row) => before?.get(row.digest) !== row.before)) for (const listener of listeners) listener()
  }

  return {
    isRevoked({ brand, userId, issuedAt }) {
      if ([...known.values()].every(({ size }) => size === 0)) return false
      const digest = digestOf(brand, userId)
      return [...known.values()].some((revoked) => issuedAt < (revoked.get(digest) ?? 0))
    },
    async revoke(database, brand, userId, also) {
      const now = clock.now()
      await database.commit([
        op(revokeTokens, [[brand, digestOf(brand, userId), now]]),
        op(forgetRevokedTokens, [[now - keptMs]]),
        database.wake(topic),
        ...also,
      ])
      await readRevoked(database)
      return now
    },
    onChange: (listener) => void listeners.push(listener),
    async start() {
      // A store that is away now is read by the loop.
      await readAll().catch(() => {})
      loop.start()
    },
    async stop() {
      for (const end of unsubscribe) end()
      await loop.stop()
    },
  }
}

const digestOf = (brand: string, userId: string): string => hash('sha256', `subscriber ${brand} ${userId}`)
