// The interface of a consumer of messages from a message-queue broker (AMQP 0-9-1) or a streaming platform (Kafka).

import type { Check } from '../runtime/check.ts'

/** A message as it arrived, not validated. Everything in it is untrusted input. */
export interface Received {
  /** AMQP: the message property `type`. Kafka: the header `type`. */
  readonly type: string | undefined
  /** The header `traceparent` (W3C Trace Context), if it is well-formed. */
  readonly traceparent?: string
  readonly body: Uint8Array
  /** The size of the message, if `body` is only its beginning: see truncate(). */
  readonly bytes?: number
  /** AMQP: the message property `content_encoding`, such as gzip. The body is not decoded. */
  readonly encoding?: string
  /** Where the message came from, for people to read: 'kafka device-links.1/2 at 17'. */
  readonly from: string
  /** AMQP: the failed deliveries of this message, if they exceed the delivery limit and the broker delivers it nevertheless. */
  readonly failedDeliveries?: number
}

/**
 * Stores messages, in their order. Resolves when all of them are durable; an unreadable message is parked, which is durable
 * too. Never rejects because of a message's content. A rejection means that the store is unavailable: pass the same messages
 * again.
 */
export type Take = (received: readonly Received[]) => Promise<readonly ('taken' | 'parked')[]>

export interface ConsumerStatus {
  /** connecting: no session with the broker. held: the store accepts no messages, so the received ones wait. */
  readonly state: 'connecting' | 'consuming' | 'held'
  /** When this state began, in epoch milliseconds. */
  readonly since: number
  /** Why it is not consuming, or why it was not the last time. */
  readonly lastError?: string
}

export interface BrokerConsumer {
  /** Unique in a process: 'amqp device-links.1'. */
  readonly name: string
  /**
   * Passes messages to take() in order of arrival until `signal` aborts, and reconnects to the broker by itself. A message is
   * acknowledged, or its offset committed, only after take() has resolved. Resolves when consuming has ended; never rejects.
   */
  consume(take: Take, signal: AbortSignal): Promise<void>
  status?(): ConsumerStatus
  /**
   * AMQP: the messages in the queue that no consumer has received. Kafka: the messages after the committed offsets, in the
   * partitions of this process. Undefined: unknown now.
   */
  readLag?(): Promise<number | undefined>
  /** For `bellwire doctor`: whether the broker accepts the credentials and has the queue or topic. Changes nothing. */
  check?(): Promise<readonly Check[]>
}

/** The largest message that is read. A larger one is parked. */
export const mostMessageBytes = 1024 * 1024
/** The bytes that are kept of a message that is too large. */
const keptBytes = 64 * 1024

export const sizeOf = ({ body, bytes = body.byteLength }: Received): number => bytes

/** Cuts off the end of a message that is too large, so that it occupies no memory while it waits. */
export function truncate(message: Received): Received {
  const { body } = message
  if (body.byteLength <= mostMessageBytes) return message
  return { ...message, bytes: sizeOf(message), body: Buffer.from(body.subarray(0, keptBytes)) }
}

/** A `type` longer than AMQP allows is cut off: no type that we know is longer. */
export const mostTypeBytes = 255

/** @param header as the client returns it: a string, bytes, or any value of an AMQP table */
export function readTraceparent(header: unknown): { readonly traceparent?: string } {
  const text = Buffer.isBuffer(header) && header.length < 100 ? header.toString() : header
  return typeof text === 'string' && /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(text)
    ? { traceparent: text }
    : {}
}
