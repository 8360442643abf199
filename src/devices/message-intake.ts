// The platform's way in for messages (§4.3): from bytes to the registry, the same for every broker.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { mostRecordBytes, readDeviceEvent } from '../contract/device-events.ts'
import { deviceMessageType } from '../contract/endpoints.ts'
import type { Op } from '../store/database.ts'
import { StoreUnavailable } from '../store/store-unavailable.ts'
import type { Received, Take } from './device-channel.ts'
import { type DeviceEvent, eventsOf, type Judge } from './device-event.ts'
import type { Registry } from './registry.ts'

/** Whose a queue's or topic's messages are (row 21): all of one brand, or by the origin that they name. */
export type Brands = string | Readonly<Record<string, string>>

export interface MessageIntakeOptions {
  readonly registry: Pick<Registry, 'take'>
  readonly judge?: Judge | undefined
  readonly brands: Brands
  /** Rows that keep what cannot be read. */
  readonly park: (parked: readonly Parked[]) => readonly Op[]
  /** They are on disk. */
  readonly onParked?: (parked: readonly Parked[]) => void
}

/** A message that cannot be read, and why. */
export interface Parked {
  readonly message: Received
  readonly reason: string
  /** The brand; undefined where even that is not known. */
  readonly brand: string | undefined
  /** The same message is the same key, however often it is delivered; an equal one from another place (a Kafka offset) is not. */
  readonly key: string
}

/**
 * Takes messages into the registry, and parks what cannot be read, in one commit. Rejects only where the store is away.
 *
 * @example await takeMessages({ registry, brands: '1', park })([{ type: 'USER_DEVICE_LINK', body, from: 'amqp links' }]) // ['taken']
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
      return readings.map(fateOf)
    } catch (error) {
      // The store is away, or one of them cannot be stored: which one?
      if (error instanceof StoreUnavailable) throw error
    }
    const fates: ('taken' | 'parked')[] = []
    for (const [i, reading] of readings.entries()) {
      try {
        await commit([reading])
        fates.push(fateOf(reading))
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        const message = received[i] as Received
        const reason = `it cannot be stored: ${error instanceof Error ? error.message : String(error)}`
        await commit([parkedAs(message, reason, reading.brand)])
        fates.push('parked')
      }
    }
    return fates
  }
}

const tooLarge = (bytes: number): string =>
  `it has ${bytes} bytes: at most ${mostRecordBytes} are read, send a record for some of its tokens at a time`

type Reading = { readonly events: readonly DeviceEvent[]; readonly brand: string } | Parked

const fateOf = (reading: Reading): 'taken' | 'parked' => ('events' in reading ? 'taken' : 'parked')

/** What a message says, or why it cannot be read. */
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
    return parkedAs(message, `origin ${JSON.stringify(record.origin)} is of no brand: add it to origins`, undefined)
  }
  const events = eventsOf(record, { what, brand, judge })
  return 'invalid' in events ? parkedAs(message, events.invalid, brand) : { events, brand }
}

/** Row 18, row 22: its case does not matter, and everything else does. */
function whatOf(type: string | undefined): 'link' | 'unlink' | { readonly unknown: string } {
  const { link, unlink } = deviceMessageType
  if (type === undefined || type === '') return { unknown: `it has no type: send ${link} or ${unlink} as its type` }
  const upper = type.toUpperCase()
  if (upper === link) return 'link'
  if (upper === unlink) return 'unlink'
  return { unknown: `its type ${JSON.stringify(type.slice(0, 60))} is not known: send ${link} or ${unlink}` }
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

/** So much of a message that is too large is kept. */
const mostKept = 64 * 1024

/** A parked message as it is written down and shown, with the name of its queue or topic: whole, unless it is too large. */
export function parkedText({ type, body, from }: Received, channel: string, at: number): string {
  const cut = body.byteLength > mostRecordBytes
  const kept = Buffer.from(body.buffer, body.byteOffset, cut ? mostKept : body.byteLength)
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

/** The message again, as it arrived. */
export function unparked(text: string): {
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
