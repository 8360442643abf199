// Reads the messages of brokers (§4.3) and stores them in the registry, in the same way for every broker.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { mostRecordBytes, readDeviceEvent } from '../contract/device-events.ts'
import { deviceMessageType } from '../contract/endpoints.ts'
import type { Op } from '../store/database.ts'
import { StoreUnavailable } from '../store/store-unavailable.ts'
import type { Received, Take } from './device-channel.ts'
import { type DeviceEvent, eventsOf, type Judge } from './device-event.ts'
import type { Registry } from './registry.ts'

/** The brand of the messages of a queue or topic (row 21): one brand for all, or a map from origin to brand. */
export type Brands = string | Readonly<Record<string, string>>

export interface MessageIntakeOptions {
  readonly registry: Pick<Registry, 'take'>
  readonly judge?: Judge | undefined
  readonly brands: Brands
  /** Returns the operations that store unreadable messages. */
  readonly park: (parked: readonly Parked[]) => readonly Op[]
  /** Called when the parked messages are on disk. */
  readonly onParked?: (parked: readonly Parked[]) => void
}

/** An unreadable message, with the reason. */
export interface Parked {
  readonly message: Received
  readonly reason: string
  /** Undefined if the brand is unknown. */
  readonly brand: string | undefined
  /** The idempotency key: the same for every delivery of a message, another one for an equal message at another Kafka offset. */
  readonly key: string
}

/**
 * Stores messages in the registry and parks the unreadable ones, in one commit. Rejects only if the store is unavailable.
 *
 * @example takeMessages({ registry, brands: '1', park })([{ type: 'USER_DEVICE_LINK', body, from: 'amqp links' }]) // ['taken']
 */
export function takeMessages(options: MessageIntakeOptions): Take {
  const { registry, park, onParked } = options

  async function commit(readings: readonly Reading[]): Promise<void> {
    const events = readings.flatMap((reading) => ('events' in reading ? reading.events : []))
    const parked = new Map(readings.flatMap((reading) => ('reason' in reading ? [[reading.key, reading]] : [])))
    await registry.take(events, parked.size > 0 ? park([...parked.values()]) : [])
    if (parked.size > 0) onParked?.([...parked.values()])
  }

  return async (received) => {
    const readings = received.map((message) => readMessage(message, options))
    try {
      await commit(readings)
      return readings.map(resultOf)
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
    }
    // One of the messages cannot be stored: commit them one by one, and park that one.
    const results: ('taken' | 'parked')[] = []
    for (const [i, reading] of readings.entries()) {
      try {
        await commit([reading])
        results.push(resultOf(reading))
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        const message = received[i] as Received
        const reason = `the message cannot be stored: ${error instanceof Error ? error.message : String(error)}`
        await commit([parkedAs(message, reason, reading.brand)])
        results.push('parked')
      }
    }
    return results
  }
}

const tooLarge = (bytes: number): string =>
  `the message has ${bytes} bytes, and the limit is ${mostRecordBytes}: send fewer tokens in one record`

type Reading = { readonly events: readonly DeviceEvent[]; readonly brand: string } | Parked

const resultOf = (reading: Reading): 'taken' | 'parked' => ('events' in reading ? 'taken' : 'parked')

/** Returns the events of a message, or the reason why it is unreadable. */
function readMessage(message: Received, { brands, judge }: MessageIntakeOptions): Reading {
  const only = typeof brands === 'string' ? brands : undefined
  const what = whatOf(message.type)
  if (typeof what === 'object') return parkedAs(message, what.unknown, only)
  const { byteLength: bytes } = message.body
  if (bytes > mostRecordBytes) return parkedAs(message, tooLarge(bytes), only)
  const record = readDeviceEvent(message.body)
  if ('invalid' in record) return parkedAs(message, record.invalid, only)
  const brand = typeof brands === 'string' ? brands : brandOf(brands, record.origin)
  if (brand === undefined) {
    return parkedAs(message, `origin ${JSON.stringify(record.origin)} has no brand: add it to origins`, undefined)
  }
  const events = eventsOf(record, { what, brand, judge })
  return 'invalid' in events ? parkedAs(message, events.invalid, brand) : { events, brand }
}

/** Row 18, row 22: the type must match exactly, except for its case. */
function whatOf(type: string | undefined): 'link' | 'unlink' | { readonly unknown: string } {
  const { link, unlink } = deviceMessageType
  if (type === undefined || type === '')
    return { unknown: `the message has no type: set its type to ${link} or ${unlink}` }
  const upper = type.toUpperCase()
  if (upper === link) return 'link'
  if (upper === unlink) return 'unlink'
  return { unknown: `the type ${JSON.stringify(type.slice(0, 60))} is not known: send ${link} or ${unlink}` }
}

function brandOf(brands: Readonly<Record<string, string>>, origin: string | undefined): string | undefined {
  return origin !== undefined && Object.hasOwn(brands, origin) ? brands[origin] : undefined
}

function parkedAs(message: Received, reason: string, brand: string | undefined): Parked {
  const hash = createHash('sha256')
    .update(`${message.type ?? ''}\n${message.from}\n`)
    .update(message.body)
    .digest('base64url')
  return { message, reason, brand, key: hash }
}

/** The bytes that are kept of a message that is too large. */
const maxKeptBytes = 64 * 1024

/** The stored text of a parked message, with the name of its queue or topic. A message that is too large is truncated. */
export function parkedText({ type, body, from }: Received, channel: string, at: number): string {
  const cut = body.byteLength > mostRecordBytes
  const kept = Buffer.from(body.buffer, body.byteOffset, cut ? maxKeptBytes : body.byteLength)
  return JSON.stringify({
    channel,
    from,
    at: new Date(at).toISOString(),
    type: type?.toWellFormed() ?? null,
    bytes: body.byteLength,
    ...(cut && { cut: true }),
    ...(isUtf8(kept) ? { text: kept.toString() } : { base64: kept.toString('base64') }),
  })
}

/** Restores the message from its stored text. */
export function readParkedText(text: string): {
  readonly message: Received
  readonly channel?: string
  readonly cut: boolean
} {
  const {
    channel,
    from,
    type,
    text: plain,
    base64,
    cut,
  } = JSON.parse(text) as {
    channel?: string
    from: string
    type: string | null
    text?: string
    base64?: string
    cut?: true
  }
  const body = plain === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(plain)
  return {
    message: { from, type: type ?? undefined, body },
    ...(channel !== undefined && { channel }),
    cut: cut === true,
  }
}
