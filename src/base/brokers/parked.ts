// Parked messages: what is stored of a message that cannot be read, so that a person can look at it and replay it.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { type Received, sizeOf } from './consumer.ts'

/** An unreadable message, with the reason. */
export interface Parked {
  readonly message: Received
  readonly reason: string
  /** Undefined if the brand is unknown. */
  readonly brand: string | undefined
  /** Undefined if the user is unknown. */
  readonly userId?: string | undefined
  /** The same for every delivery of a message, another one for an equal message at another Kafka offset. */
  readonly id: string
}

export function idOf(message: Received): string {
  const { type, from, body } = message
  return createHash('sha256')
    .update(`${type ?? ''}\n${from}\n${sizeOf(message)}\n`)
    .update(body)
    .digest('base64url')
}

/** The stored text of a parked message. `consumer` is the name of its consumer. */
export function parkedText(message: Received, consumer: string, at: number): string {
  const { type, traceparent, body, from, bytes } = message
  const kept = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return JSON.stringify({
    consumer,
    from,
    at: new Date(at).toISOString(),
    type: type?.toWellFormed() ?? null,
    ...(traceparent !== undefined && { traceparent }),
    bytes: sizeOf(message),
    ...(bytes !== undefined && { cut: true }),
    ...(isUtf8(kept) ? { text: kept.toString() } : { base64: kept.toString('base64') }),
  })
}

interface ParkedText {
  readonly consumer: string
  readonly from: string
  readonly type: string | null
  readonly traceparent?: string
  readonly text?: string
  readonly base64?: string
  readonly cut?: true
}

/** Restores the message from its stored text. */
export function readParkedText(stored: string): {
  readonly message: Received
  readonly consumer: string
  readonly cut: boolean
} {
  const { consumer, from, type, traceparent, text, base64, cut } = JSON.parse(stored) as ParkedText
  const body = text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text)
  const message = { from, type: type ?? undefined, ...(traceparent !== undefined && { traceparent }), body }
  return { message, consumer, cut: cut === true }
}
