// COPY (…) TO STDOUT of one column of text, from the wire straight into the bytes of the answer. Each id is looked at once,
// while it is copied; only one that needs an escape becomes a string. (pg-copy-streams hands the rows over as lines: the
// same list then costs twice the CPU.) https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY

import type pg from 'pg'
import type { Connection, Submittable } from 'pg'
import { collectDiscarded } from '../runtime/collect-discarded.ts'
import type { IdChunk } from './attribute-source.ts'
import { createCopyRows } from './copy-rows.ts'

/** Reads of the socket that may wait for the reader; then the socket is not read, and the server waits as well. */
const mostWaiting = 4

/**
 * Yields what a COPY gives, in chunks of some 64 KiB. Leaving early does not end the query: the caller does.
 *
 * @throws where the query fails, the connection is lost, or the signal aborts
 */
export async function* copyIds(client: pg.Client, copy: string, signal: AbortSignal): AsyncGenerator<IdChunk> {
  const waiting: Received[] = []
  let ended = false
  let failure: Error | undefined
  let wake: (() => void) | undefined
  const end = (error?: Error): void => {
    ended = true
    failure ??= error
    wake?.()
  }
  const copying = new CopyOut(copy, {
    receive(received) {
      waiting.push(received)
      wake?.()
      return waiting.length < mostWaiting
    },
    end,
  })
  const abort = (): void => end(new Error('the list was given up'))
  const lost = (error?: Error): void => end(error ?? new Error('the connection to the database was lost'))
  client.on('error', lost).on('end', lost)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  try {
    client.query(copying)
    for (;;) {
      const received = waiting.shift()
      if (received) {
        if (waiting.length < mostWaiting) copying.resume()
        yield* received.chunks
        collectDiscarded(received.bytes)
        continue
      }
      if (failure) throw failure
      if (ended) return
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      wake = undefined
    }
  } finally {
    client.off('error', lost).off('end', lost)
    signal.removeEventListener('abort', abort)
  }
}

interface Received {
  readonly chunks: readonly IdChunk[]
  /** Of the socket, so many. */
  readonly bytes: number
}

interface Receiver {
  /** @returns whether more may come at once */
  receive(received: Received): boolean
  end(error?: Error): void
}

/** Takes the socket over while rows come, and gives it back to pg for everything else. */
class CopyOut implements Submittable {
  readonly #text: string
  readonly #receiver: Receiver
  readonly #rows = createCopyRows()
  #connection: Connection | undefined
  #pgReads: ((bytes: Buffer) => void) | undefined

  constructor(text: string, receiver: Receiver) {
    this.#text = text
    this.#receiver = receiver
  }

  submit(connection: Connection): void {
    this.#connection = connection
    const { stream } = connection
    this.#pgReads = stream.listeners('data')[0] as (bytes: Buffer) => void
    stream.off('data', this.#pgReads)
    stream.on('data', this.#read)
    ;(connection as Connection & { query(text: string): void }).query(this.#text)
  }

  resume(): void {
    this.#connection?.stream.resume()
  }

  readonly #read = (bytes: Buffer): void => {
    try {
      const { chunks, rest } = this.#rows(bytes)
      const more = this.#receiver.receive({ chunks, bytes: bytes.length })
      if (!more) this.#connection?.stream.pause()
      if (rest) this.#giveBack(rest)
    } catch (error) {
      this.#receiver.end(error as Error)
    }
  }

  #giveBack(rest: Buffer): void {
    const stream = this.#connection?.stream
    const pgReads = this.#pgReads
    if (!stream || !pgReads) return
    stream.off('data', this.#read)
    stream.on('data', pgReads)
    stream.resume()
    if (rest.length > 0) pgReads(rest)
  }

  handleError(error: Error): void {
    this.#receiver.end(error)
  }

  handleReadyForQuery(): void {
    this.#receiver.end()
  }

  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
}
