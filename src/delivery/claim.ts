// Claiming: one process at a time sends a message, and a message that was delivered is never delivered again (row 29).

import type { Flight, Message } from '../providers/provider.ts'
import { emit } from '../runtime/events.ts'
import type { Database } from '../store/database.ts'
import { op } from '../store/statement.ts'
import { claimFlight, takeFlights } from './flights.ts'
import { listFlight } from './manifests.ts'
import { type Existing, insertMessages, messageRow, selectMessages, state, takeOver } from './messages.ts'

/** What the table of messages says of one message. */
export type Claim =
  | { readonly is: 'mine'; readonly ref: string; readonly attempt: number }
  | { readonly is: 'delivered'; readonly ref: string }
  /** A living process is sending it now. */
  | { readonly is: 'elsewhere'; readonly ref: string }

/**
 * Claims each message of a flight for this process, in one commit for those never seen before. The claim survives a killed
 * process, it need not survive a power cut: whoever asks again claims again.
 *
 * @returns one claim for each message, in order; rejects if the store is away
 */
export async function claim(database: Database, flight: Flight, now: number): Promise<Claim[]> {
  const { messages } = flight
  const [inserted] = await database.commit(
    [
      op(
        insertMessages,
        messages.map((m) => messageRow(m, flight.id, now)),
      ),
      claimFlight(flight),
      listFlight(flight),
    ],
    { durable: false },
  )
  if (inserted.length === messages.length) return messages.map((m) => ({ is: 'mine', ref: m.ref, attempt: 1 }))

  const fresh = new Set(inserted.map((row) => row.ref))
  const known = await claimKnown(
    database,
    flight,
    messages.filter((m) => !fresh.has(m.ref)),
    now,
  )
  return messages.map((m) => known.get(rowKey(m)) ?? { is: 'mine', ref: m.ref, attempt: 1 })
}

async function claimKnown(
  database: Database,
  { id: flight, owner }: Flight,
  messages: readonly Message[],
  now: number,
): Promise<Map<string, Claim>> {
  const rows = await database.read(
    op(
      selectMessages,
      messages.map((m) => [m.brand, m.key]),
    ),
  )
  const others = [...new Set(rows.filter((row) => row.state === state.inFlight).map((row) => row.owner))]
  const alive = others.length > 0 ? await database.alive(others) : new Set<string>()

  const claims = new Map<string, Claim>()
  const free: Existing[] = []
  for (const row of rows) {
    if (row.state === state.successful) claims.set(rowKey(row), { is: 'delivered', ref: row.ref })
    // In flight by us, yet nobody here is working on it (the caller knows): our settle was lost.
    else if (row.state === state.inFlight && row.owner !== owner && alive.has(row.owner)) {
      claims.set(rowKey(row), { is: 'elsewhere', ref: row.ref })
    } else free.push(row)
  }
  if (free.length === 0) return claims

  const asked = new Map(messages.map((m) => [rowKey(m), m]))
  const [taken] = await database.commit(
    [
      op(
        takeOver,
        free.map((row) => {
          const [, , , , at, ...request] = messageRow(asked.get(rowKey(row)) as Message, flight, now)
          return [row.brand, row.key, row.ref, row.state, row.flight, flight, at as number, ...request]
        }),
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
      rowKey(row),
      won ? { is: 'mine', ref: row.ref, attempt: won.attempt } : { is: 'elsewhere', ref: row.ref },
    )
    if (won && row.state === state.inFlight) {
      emit('message.taken_over', { brand: row.brand, ref: row.ref, attempt: won.attempt, uncertain: won.uncertain > 0 })
    }
  }
  return claims
}

const rowKey = (row: { readonly brand: string; readonly key: string }): string => `${row.brand} ${row.key}`
