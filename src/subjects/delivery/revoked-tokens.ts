// The table `revoked_tokens`: the users whose subscriber tokens were revoked, each with the time before which no token is accepted.
// The rows have a keyed digest in place of the user (people/erasures.ts has the secret). A row is needed for as long as the longest token lives.

import { longestTokenSeconds, type TokenRevocations } from '../../base/http/subscriber-token.ts'
import { keyedDigest } from '../../base/people/digest.ts'
import { secretOf } from '../../base/people/erasures.ts'
import { clock } from '../../base/runtime/clock.ts'
import type { Database, Migration, Op } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import { createWokenLoop } from '../../base/store/woken-loop.ts'

export const revocationMigrations: readonly Migration[] = [
  {
    name: 'revoked_tokens/1',
    statements: ({ key }) => [
      `create table revoked_tokens (brand ${key} not null, digest ${key} primary key, before bigint not null)`,
    ],
    brandTables: [{ table: 'revoked_tokens', brand: 'brand' }],
  },
]

const revokeTokens = statement('revoke_tokens', { brand: 'text', digest: 'text', before: 'bigint' })`
  insert into revoked_tokens (brand, digest, before) select r.brand, r.digest, r.before from ${rows} r where true
  on conflict (digest) do update set before = excluded.before where revoked_tokens.before < excluded.before`

const forgetRevokedTokens = statement('forget_revoked_tokens', { before: 'bigint' })`
  delete from revoked_tokens where before < (select min(r.before) from ${rows} r)`

interface RevokedTokens {
  readonly brand: string
  readonly digest: string
  readonly before: number
  readonly secret: string
}

const listRevokedTokens = statement<RevokedTokens>('list_revoked_tokens', {})`
  select t.brand, t.digest, t.before, s.secret from revoked_tokens t join person_secrets s on s.brand = t.brand`

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
  /** By digest. */
  const known = new Map<Database, ReadonlyMap<string, RevokedTokens>>()
  /** The secret of each brand with revocations. */
  const secrets = new Map<string, string>()
  const listeners: (() => void)[] = []
  const loop = createWokenLoop('revoked tokens', databases, topic, async () => {
    await readAll()
    return rereadMs
  })

  async function readAll(): Promise<void> {
    const read = await Promise.allSettled(databases.map(readRevoked))
    const failed = read.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  async function readRevoked(database: Database): Promise<void> {
    const rows = await database.read(op(listRevokedTokens, [[]]))
    const before = known.get(database)
    known.set(database, new Map(rows.map((row) => [row.digest, row])))
    for (const { brand, secret } of rows) secrets.set(brand, secret)
    if (rows.some((row) => before?.get(row.digest)?.before !== row.before)) for (const listener of listeners) listener()
  }

  return {
    isRevoked({ brand, userId, issuedAt }) {
      const secret = secrets.get(brand)
      if (secret === undefined) return false
      const digest = keyedDigest(secret, subscriber(userId))
      return [...known.values()].some((revoked) => issuedAt < (revoked.get(digest)?.before ?? 0))
    },
    async revoke(database, brand, userId, also) {
      const secret = await secretOf(database, brand)
      const now = clock.now()
      await database.commit([
        op(revokeTokens, [[brand, keyedDigest(secret, subscriber(userId)), now]]),
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
    stop: loop.stop,
  }
}

/** Differs from the digest of an erased user. */
const subscriber = (userId: string): string => `subscriber ${userId}`
