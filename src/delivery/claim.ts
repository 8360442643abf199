// Claiming: one process at a time sends a message, and a message that was delivered is never delivered again (row 29).

import type { Message } from '../providers/provider.ts'
import { emit } from '../runtime/events.ts'
import type { Database } from '../store/database.ts'
import { op } from '../store/statement.ts'
import { createChunks } from './chunks.ts'
import { type ClaimedBefore, claimMessages, selectMessages, takeOver } from './messages.ts'
import { markStored, storeClaimedRequests, storeRequests } from './requests.ts'

/** The state of a message that was seen before. */
export type Claim =
  /** It is ours to send, as another attempt. */
  | { readonly is: 'taken over'; readonly ref: string; readonly attempt: number }
  | { readonly is: 'delivered'; readonly ref: string }
  /** A living process is sending it now. */
  | { readonly is: 'elsewhere'; readonly ref: string }

export interface ClaimOptions {
  readonly database: Database
  /** The provider delivers with the settle: a claim whose owner died is not uncertain. */
  readonly transactional: boolean
}

/** Claims messages of one brand for this process. @returns an entry for each that was seen before; the others are new and ours */
export type ClaimMessages = (messages: readonly Message[]) => Promise<ReadonlyMap<Message, Claim>>

/**
 * Claims messages in one commit, together with the requests that brought them. The claim survives a killed process; it need not
 * survive a power cut: the next request claims the message again. Rejects if the store is away.
 */
export function createClaim({ database, transactional }: ClaimOptions): ClaimMessages {
  const chunkOf = createChunks()

  return async (messages) => {
    const now = Date.now()
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
    return claimKnown(messages, owner)
  }

  /** Of these, some were seen before. */
  async function claimKnown(messages: readonly Message[], owner: string): Promise<ReadonlyMap<Message, Claim>> {
    const rows = await readClaims(database, messages)
    const messageOf = new Map(messages.map((m) => [m.key, m]))
    const [fresh, known] = [new Set<string>(), [] as ClaimedBefore[]]
    for (const row of rows) {
      const message = messageOf.get(row.key) as Message
      if (row.ref === message.ref && row.owner === owner && row.attempt === 1) fresh.add(row.key)
      else known.push(row)
    }
    for (const message of messages) if (fresh.has(message.key)) markStored(message)
    const alive = await livingOwners(known)
    const claims = new Map<Message, Claim>()
    const free: [Message, ClaimedBefore][] = []
    for (const row of known) {
      const message = messageOf.get(row.key) as Message
      if (row.state === 'successful') claims.set(message, { is: 'delivered', ref: row.ref })
      // In flight by this process, which has no work for it (the caller checks that): its settle was lost.
      else if (row.state === 'in_flight' && row.owner !== owner && alive.has(row.owner))
        claims.set(message, { is: 'elsewhere', ref: row.ref })
      else free.push([message, row])
    }
    if (free.length > 0) await takeOverAll(free, owner, claims)
    return claims
  }

  async function livingOwners(rows: readonly ClaimedBefore[]): Promise<ReadonlySet<string>> {
    const owners = new Set(rows.filter(({ state }) => state === 'in_flight').map(({ owner }) => owner))
    return owners.size === 0 ? owners : database.alive([...owners])
  }

  async function takeOverAll(
    free: readonly (readonly [Message, ClaimedBefore])[],
    owner: string,
    claims: Map<Message, Claim>,
  ): Promise<void> {
    const now = Date.now()
    const lost = ({ state }: ClaimedBefore): boolean => state === 'in_flight' && !transactional
    const rows = free.map(([m, row]) => [
      row.ref,
      row.state,
      row.attempt,
      owner,
      m.part?.of.id ?? m.ref,
      m.part?.start ?? 0,
      m.text.length,
      lost(row) ? 1 : 0,
      now,
    ])
    const ops = [op(takeOver, rows), storeRequests(free.map(([m]) => m))] as const
    const [taken] = await database.commit(ops, { durable: false })
    const attempts = new Map(taken.map(({ ref, attempt }) => [ref, attempt]))
    for (const [message, row] of free) {
      const { brand, ref } = row
      const attempt = attempts.get(ref)
      if (attempt === undefined) {
        // Another process was faster: it is sending the message now.
        claims.set(message, { is: 'elsewhere', ref })
        continue
      }
      markStored(message)
      claims.set(message, { is: 'taken over', ref, attempt })
      if (row.state !== 'in_flight') continue
      emit('message.taken_over', { brand, channel: message.channel, ref, attempt, uncertain: lost(row) })
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
