// Claiming: only one process at a time sends a message, and a delivered message is never delivered again (row 29).

import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { uuidv7 } from '../../base/runtime/ids.ts'
import type { Database, Op } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import type { Message } from '../providers/provider.ts'
import { createChunks } from './chunks.ts'
import { type ClaimedBefore, claimMessages, selectMessages, takeOverMessages } from './messages.ts'
import { type ClaimedRequest, eraseTexts, joinRequests, readTexts, storeRequests, type TextPlace } from './requests.ts'

/** The state of a message that was seen before. */
export type Claim =
  /** This process sends it, as another attempt. */
  | { readonly is: 'taken over'; readonly ref: string; readonly attempt: number }
  | { readonly is: 'delivered'; readonly ref: string }
  /** Another process, which is alive, is sending it now. */
  | { readonly is: 'elsewhere'; readonly ref: string }
  /** It was not delivered before its user was erased. */
  | { readonly is: 'erased'; readonly ref: string }

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
    if (messages.length === 0) return new Map()
    const now = clock.now()
    const { owner } = database
    const { requests, places } = joinRequests(messages)
    const rows = messages.map((m, i) => {
      const { request, start_at, length } = places[i] as TextPlace
      return [m.brand, m.key, m.ref, m.userId, owner, request, start_at, length, now, chunkOf(m.brand)]
    })
    const ops = [op(claimMessages, rows), storeRequests(requests)] as const
    const [[claimed]] = await database.commit(ops, { durable: false })
    return claimed?.complete ? new Map() : claimSomeSeen(messages, requests, owner)
  }

  /** After an insert that found some of the messages in the table. */
  async function claimSomeSeen(
    messages: readonly Message[],
    requests: readonly ClaimedRequest[],
    owner: string,
  ): Promise<ReadonlyMap<Message, Claim>> {
    const rows = await readClaims(database, messages)
    const messageOf = new Map(messages.map((m) => [m.key, m]))
    const [fresh, seen] = [new Set<Message>(), [] as ClaimedBefore[]]
    for (const row of rows) {
      const message = messageOf.get(row.key) as Message
      if (row.ref === message.ref && row.owner === owner && row.attempt === 1) fresh.add(message)
      else seen.push(row)
    }
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
    const partial = requests.filter((request) => !request.messages.every((message) => fresh.has(message)))
    await takeOver(free, owner, storeRequests(partial, fresh), claims)
    return claims
  }

  async function findLivingOwners(rows: readonly ClaimedBefore[]): Promise<ReadonlySet<string>> {
    const owners = new Set(rows.filter(({ state }) => state === 'in_flight').map(({ owner }) => owner))
    return owners.size === 0 ? owners : database.alive([...owners])
  }

  /**
   * Begins another attempt of the free messages. Their texts are stored already, unless the caller changed one or retention removed it.
   *
   * @param storeNew stores the texts that the first commit left out: those of new messages beside seen ones
   */
  async function takeOver(
    free: readonly (readonly [Message, ClaimedBefore])[],
    owner: string,
    storeNew: Op,
    claims: Map<Message, Claim>,
  ): Promise<void> {
    const now = clock.now()
    const isUncertain = ({ state }: ClaimedBefore): boolean => state === 'in_flight' && !transactional
    const earlier = free.map(([, row]) => row)
    const texts = await readTexts(database, earlier)
    const changed: ClaimedRequest[] = []
    const rows = free.map(([m, row]) => {
      let { request, start_at, length } = row
      if (texts.get(row.ref) !== m.text) {
        ;[request, start_at, length] = [uuidv7(), 0, m.text.length]
        changed.push({ id: request, messages: [{ ...m, ref: row.ref }] })
      }
      return [row.ref, row.state, row.attempt, owner, request, start_at, length, isUncertain(row) ? 1 : 0, now]
    })
    // The earlier texts. First, because no row names them after the next commit.
    const replaced = new Set(changed.map(({ messages: [m] }) => m?.ref))
    await eraseTexts(
      database,
      earlier.filter(({ ref }) => replaced.has(ref)),
    )
    const ops = [op(takeOverMessages, rows), storeNew, storeRequests(changed)] as const
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
      claims.set(message, { is: 'taken over', ref, attempt })
      if (row.state !== 'in_flight') continue
      emit('message.taken_over', { brand, channel: message.channel, ref, attempt, uncertain: isUncertain(row) })
    }
  }
}

/** The rows of the messages that were claimed before. */
export function readClaims(database: Database, messages: readonly Message[]): Promise<readonly ClaimedBefore[]> {
  return database.read(op(selectMessages, messages, (m) => [m.brand, m.key]))
}
