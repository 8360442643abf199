// COPY (…) TO STDOUT of one text column, converted to the bytes of the response as it arrives. Each id is scanned once, while
// it is copied; only an id that needs escaping becomes a string. (pg-copy-streams returns the rows as lines, which costs twice
// the CPU for the same list.) https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY

import type pg from 'pg'
import type { Connection, Submittable } from 'pg'
import type { IdChunk } from './attribute-source.ts'
import { createCopyRows } from './copy-rows.ts'

/** Socket reads that may be buffered. At this limit the socket is paused, and the server stops sending. */
const maxBuffered = 4

/**
 * Yields the ids of a COPY in chunks of about 64 KiB. An early `return` does not cancel the query; the caller must do that.
 *
 * @throws if the query fails, the connection is lost or the signal aborts
 */
export async function* copyIds(client: pg.Client, copy: string, signal: AbortSignal): AsyncGenerator<IdChunk> {
  const buffered: (readonly IdChunk[])[] = []
  let ended = false
  let failure: Error | undefined
  let wake: (() => void) | undefined
  const end = (error?: Error): void => {
    ended = true
    failure ??= error
    wake?.()
  }
  const copyOut = new CopyOut(copy, {
    receive(received) {
      buffered.push(received)
      wake?.()
      return buffered.length < maxBuffered
    },
    end,
  })
  const abort = (): void => end(new Error('the list was cancelled'))
  const onLost = (error?: Error): void => end(error ?? new Error('the connection to the database was lost'))
  client.on('error', onLost).on('end', onLost)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  try {
    client.query(copyOut)
    for (;;) {
      const received = buffered.shift()
      if (received) {
        if (buffered.length < maxBuffered) copyOut.resume()
        yield* received
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
    client.off('error', onLost).off('end', onLost)
    signal.removeEventListener('abort', abort)
  }
}

interface Receiver {
  /** @returns false if the socket should be paused */
  receive(chunks: readonly IdChunk[]): boolean
  end(error?: Error): void
}

/** Reads the socket itself while rows arrive, and returns it to pg for everything else. */
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
      const more = this.#receiver.receive(chunks)
      if (!more) this.#connection?.stream.pause()
      if (rest) this.#returnSocket(rest)
    } catch (error) {
      this.#receiver.end(error as Error)
    }
  }

  #returnSocket(rest: Buffer): void {
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
