// Claiming: only one process at a time sends a message, and a delivered message is never delivered again (row 29).

import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import type { Database } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import type { Message } from '../providers/provider.ts'
import { createChunks } from './chunks.ts'
import { type ClaimedBefore, claimMessages, selectMessages, takeOverMessages } from './messages.ts'
import { markStored, storeClaimedRequests, storeRequests } from './requests.ts'

/** The state of a message that was seen before. */
export type Claim =
  /** This process sends it, as another attempt. */
  | { readonly is: 'taken over'; readonly ref: string; readonly attempt: number }
  | { readonly is: 'delivered'; readonly ref: string }
  /** Another process, which is alive, is sending it now. */
  | { readonly is: 'elsewhere'; readonly ref: string }

export interface ClaimOptions {
  readonly database: Database
  /** The provider delivers by committing rows with the settle: if the owner of a claim died, the message was not delivered. */
  readonly transactional: boolean
}

/** Claims messages of one brand. @returns an entry for each message that was seen before; the others are new and claimed */
export type ClaimMessages = (messages: readonly Message[]) => Promise<ReadonlyMap<Message, Claim>>

/**
 * Claims messages in one commit, together with their requests. A claim survives a killed process. It need not survive a power
 * cut: the next request claims the message again. Rejects if the store is unavailable.
 */
export function createClaim({ database, transactional }: ClaimOptions): ClaimMessages {
  const chunkOf = createChunks()

  return async (messages) => {
    const now = clock.now()
    const { owner } = database
    const rows = messages.map((m) => [
      m.brand,
      m.key,
      m.ref,
      m.userId,
      owner,
      m.part?.of.id ?? m.ref,
      m.part?.start ?? 0,
      m.text.length,
      now,
      chunkOf(m.brand),
    ])
    const ops = [op(claimMessages, rows), storeClaimedRequests(messages)] as const
    const [[claimed]] = await database.commit(ops, { durable: false })
    if (claimed?.complete) {
      for (const message of messages) markStored(message)
      return new Map()
    }
    return claimSomeSeen(messages, owner)
  }

  /** After an insert that found some of the messages in the table. */
  async function claimSomeSeen(messages: readonly Message[], owner: string): Promise<ReadonlyMap<Message, Claim>> {
    const rows = await readClaims(database, messages)
    const messageOf = new Map(messages.map((m) => [m.key, m]))
    const [newKeys, seen] = [new Set<string>(), [] as ClaimedBefore[]]
    for (const row of rows) {
      const message = messageOf.get(row.key) as Message
      if (row.ref === message.ref && row.owner === owner && row.attempt === 1) newKeys.add(row.key)
      else seen.push(row)
    }
    for (const message of messages) if (newKeys.has(message.key)) markStored(message)
    const alive = await findLivingOwners(seen)
    const claims = new Map<Message, Claim>()
    const free: [Message, ClaimedBefore][] = []
    for (const row of seen) {
      const message = messageOf.get(row.key) as Message
      if (row.state === 'successful') claims.set(message, { is: 'delivered', ref: row.ref })
      // In flight by this process, but not in progress in it (the caller checks that): its settle was lost.
      else if (row.state === 'in_flight' && row.owner !== owner && alive.has(row.owner))
        claims.set(message, { is: 'elsewhere', ref: row.ref })
      else free.push([message, row])
    }
    if (free.length > 0) await takeOver(free, owner, claims)
    return claims
  }

  async function findLivingOwners(rows: readonly ClaimedBefore[]): Promise<ReadonlySet<string>> {
    const owners = new Set(rows.filter(({ state }) => state === 'in_flight').map(({ owner }) => owner))
    return owners.size === 0 ? owners : database.alive([...owners])
  }

  async function takeOver(
    free: readonly (readonly [Message, ClaimedBefore])[],
    owner: string,
    claims: Map<Message, Claim>,
  ): Promise<void> {
    const now = clock.now()
    const isUncertain = ({ state }: ClaimedBefore): boolean => state === 'in_flight' && !transactional
    const rows = free.map(([m, row]) => [
      row.ref,
      row.state,
      row.attempt,
      owner,
      m.part?.of.id ?? m.ref,
      m.part?.start ?? 0,
      m.text.length,
      isUncertain(row) ? 1 : 0,
      now,
    ])
    const ops = [op(takeOverMessages, rows), storeRequests(free.map(([m]) => m))] as const
    const [taken] = await database.commit(ops, { durable: false })
    const attempts = new Map(taken.map(({ ref, attempt }) => [ref, attempt]))
    for (const [message, row] of free) {
      const { brand, ref } = row
      const attempt = attempts.get(ref)
      if (attempt === undefined) {
        // Another process took the message over first: it is sending the message now.
        claims.set(message, { is: 'elsewhere', ref })
        continue
      }
      markStored(message)
      claims.set(message, { is: 'taken over', ref, attempt })
      if (row.state !== 'in_flight') continue
      emit('message.taken_over', { brand, channel: message.channel, ref, attempt, uncertain: isUncertain(row) })
    }
  }
}

/** The rows of the messages that were claimed before. */
export function readClaims(database: Database, messages: readonly Message[]): Promise<readonly ClaimedBefore[]> {
  return database.read(
    op(
      selectMessages,
      messages.map((m) => [m.brand, m.key]),
    ),
  )
}
