// Claiming: one process at a time sends a message, and a message that was delivered is never delivered again (row 29).

import type { Flight, Message } from '../providers/provider.ts'
import { emit } from '../runtime/events.ts'
import type { Database } from '../store/database.ts'
import { op } from '../store/statement.ts'
import { claimFlight, takeFlights } from './flights.ts'
import { listFlight, withRefs } from './manifests.ts'
import { type Existing, insertMessages, selectMessages, state, takeOver } from './messages.ts'

/** What the table of messages says of a message that was seen before. */
export type Claim =
  /** It is ours to send, as another attempt. */
  | { readonly is: 'taken over'; readonly ref: string; readonly attempt: number }
  | { readonly is: 'delivered'; readonly ref: string }
  /** A living process is sending it now. */
  | { readonly is: 'elsewhere'; readonly ref: string }

export type Known = Existing & { readonly ref: string }

/**
 * Claims each message of a flight for this process, in one commit for those never seen before. The claim survives a killed
 * process, it need not survive a power cut: whoever asks again claims again.
 *
 * @returns of those that were seen before; the others are ours. Rejects if the store is away
 */
export async function claim(database: Database, flight: Flight): Promise<ReadonlyMap<Message, Claim>> {
  const { id, messages } = flight
  const brand = messages[0]?.brand ?? ''
  const [boarded] = await database.commit(
    [op(insertMessages, [[brand, id]]), listFlight(flight), claimFlight(flight)],
    { durable: false },
  )
  return boarded[0]?.written === messages.length ? new Map() : claimKnown(database, flight)
}

async function claimKnown(database: Database, flight: Flight): Promise<Map<Message, Claim>> {
  const { id, owner, messages } = flight
  const rows = (await readKnown(database, messages)).filter((row) => row.flight !== id)
  const others = [...new Set(rows.filter((row) => row.state === state.inFlight).map((row) => row.owner))]
  const alive = others.length > 0 ? await database.alive(others) : new Set<string>()

  const seats = new Map(messages.map((m, seat) => [rowKey(m), seat]))
  const seatOf = (row: Existing): number => seats.get(rowKey(row)) as number
  const messageOf = (row: Existing): Message => messages[seatOf(row)] as Message
  const claims = new Map<Message, Claim>()
  const free: Known[] = []
  for (const row of rows) {
    if (row.state === state.successful) claims.set(messageOf(row), { is: 'delivered', ref: row.ref })
    // In flight by us, yet nobody here is working on it (the caller knows): our settle was lost.
    else if (row.state === state.inFlight && row.owner !== owner && alive.has(row.owner)) {
      claims.set(messageOf(row), { is: 'elsewhere', ref: row.ref })
    } else free.push(row)
  }
  if (free.length === 0) return claims

  const [taken] = await database.commit(
    [
      op(
        takeOver,
        free.map((row) => [row.brand, row.key, row.ref, row.state, row.flight, id, seatOf(row)]),
      ),
      takeFlights(free.filter((row) => row.state === state.inFlight).map((row) => row.flight)),
    ],
    { durable: false },
  )
  const mine = new Map(taken.map((row) => [row.ref, row]))
  for (const row of free) {
    const won = mine.get(row.ref)
    // Another process was faster: it is sending the message now.
    claims.set(
      messageOf(row),
      won ? { is: 'taken over', ref: row.ref, attempt: won.attempt } : { is: 'elsewhere', ref: row.ref },
    )
    if (won && row.state === state.inFlight) {
      const { channel } = messageOf(row)
      const uncertain = won.uncertain > row.uncertain
      emit('message.taken_over', { brand: row.brand, channel, ref: row.ref, attempt: won.attempt, uncertain })
    }
  }
  return claims
}

/** The rows of these messages that were claimed before. */
export async function readKnown(database: Database, messages: readonly Message[]): Promise<readonly Known[]> {
  const keys = messages.map((m) => [m.brand, m.key])
  return withRefs(database, await database.read(op(selectMessages, keys)))
}

export const rowKey = (row: { readonly brand: string; readonly key: string }): string => `${row.brand} ${row.key}`
