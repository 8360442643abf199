// Reads the messages of a broker and stores them, in the same way for every kind of message. An unreadable message is parked.

import type { Op } from '../store/database.ts'
import { StoreUnavailable } from '../store/store-unavailable.ts'
import { mostMessageBytes, type Received, type Take, truncate } from './consumer.ts'
import { idOf, type Parked } from './parked.ts'
import { messageOf } from './reasons.ts'

/** The content of a message, or one sentence that says why it cannot be read. */
export type Reading<Value> =
  | { readonly value: Value; readonly brand: string; readonly userId?: string }
  | { readonly invalid: string; readonly brand?: string | undefined; readonly userId?: string }

export type ReadMessage<Value> = (message: Received) => Reading<Value>

export interface TakeOptions<Value> {
  readonly read: ReadMessage<Value>
  /** The brand of unreadable messages that name none. */
  readonly brand?: string | undefined
  /** Stores the values of a brand, and runs the operations. Rejects with StoreUnavailable if the store is, or with the fault of a value. */
  readonly commit: (values: readonly Value[], ops: readonly Op[], brand: string | undefined) => Promise<unknown>
  /** Returns the operations that store unreadable messages. */
  readonly park: (parked: readonly Parked[]) => readonly Op[]
  /** Called when the parked messages are on disk. */
  readonly onParked?: (parked: readonly Parked[]) => void
}

/**
 * Stores the values of messages and parks the unreadable messages. Rejects only if the store is unavailable.
 *
 * @example takeMessages({ read, commit, park })([{ type: 'USER_DEVICE_LINK', body, from: 'amqp links' }]) // ['taken']
 */
export function takeMessages<Value>({ read, brand: ofAll, commit, park, onParked }: TakeOptions<Value>): Take {
  type Read = Exclude<Reading<Value>, { readonly invalid: string }> | Parked
  const resultOf = (reading: Read): 'taken' | 'parked' => ('value' in reading ? 'taken' : 'parked')

  const parked = (
    message: Received,
    reason: string,
    { brand = ofAll, userId }: { readonly brand?: string | undefined; readonly userId?: string | undefined },
  ): Parked => ({ message, reason, brand, userId, id: idOf(message) })

  // Each brand may be in a store of its own. Brands of one store are one transaction, because they are waiting in one turn.
  async function commitAll(readings: readonly Read[]): Promise<void> {
    const byBrand = Map.groupBy(readings, ({ brand }) => brand)
    await Promise.all([...byBrand].map(([brand, own]) => commitBrand(own, brand)))
  }

  async function commitBrand(readings: readonly Read[], brand: string | undefined): Promise<void> {
    const values = readings.flatMap((reading) => ('value' in reading ? [reading.value] : []))
    const unreadable = new Map(readings.flatMap((reading) => ('reason' in reading ? [[reading.id, reading]] : [])))
    const all = [...unreadable.values()]
    await commit(values, all.length > 0 ? park(all) : [], brand)
    if (all.length > 0) onParked?.(all)
  }

  return async (received) => {
    const messages = received.map(truncate)
    const readings = messages.map((message): Read => {
      const reading = readAny(message, read)
      if ('value' in reading) return reading
      const { encoding } = message
      const hint = encoding === undefined ? '' : `; its content_encoding is ${encoding}: send it without a coding`
      return parked(message, reading.invalid + hint, reading)
    })
    try {
      await commitAll(readings)
      return readings.map(resultOf)
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
    }
    // One of the messages cannot be stored: commit them one by one, and park that one.
    const results: ('taken' | 'parked')[] = []
    for (const [i, reading] of readings.entries()) {
      try {
        await commitAll([reading])
        results.push(resultOf(reading))
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        const reason = `the message cannot be stored: ${messageOf(error)}`
        await commitAll([parked(messages[i] as Received, reason, reading)])
        results.push('parked')
      }
    }
    return results
  }
}

function readAny<Value>(message: Received, read: ReadMessage<Value>): Reading<Value> {
  const { failedDeliveries, bytes } = message
  if (failedDeliveries !== undefined)
    return {
      invalid: `the message was delivered ${failedDeliveries} times and not acknowledged: check that it does not end the process, then replay it`,
    }
  if (bytes !== undefined)
    return { invalid: `the message has ${bytes} bytes, and the limit is ${mostMessageBytes}: send less in one message` }
  try {
    return read(message)
  } catch (error) {
    // A fault of ours must not block the messages behind this one.
    return { invalid: `reading the message failed: ${messageOf(error)}` }
  }
}
