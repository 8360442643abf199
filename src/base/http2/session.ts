// One connection with our own frames: its streams, its windows, and how each request ends. The bytes on the wire are decided in
// reader.ts, writer.ts and stream.ts.
//
// A request is encoded only when the socket accepts bytes, and at most one write is under way. So it is known exactly which requests
// were handed to the operating system: a request that still waits (outgoing.ts) was not written, and can be sent on another connection.

import type { Socket } from 'node:net'
import { clock } from '../runtime/clock.ts'
import {
  type Connection,
  type ConnectionLimits,
  type ConnectionListener,
  type ConnectionOptions,
  type End,
  type Http2Request,
  lingerMs,
  streamReset,
} from './connection.ts'
import { FloodBudget } from './flood-budget.ts'
import { ReceiveWindow } from './flow.ts'
import { ConnectionError, defaultWindow, errorCode, leastMaxFrame, maxWindow, setting } from './frames.ts'
import { Outgoing, type Started, streamReceiveWindow } from './outgoing.ts'
import { Reader, type ReaderEvents } from './reader.ts'
import { openSocket } from './socket.ts'
import type { Stream } from './stream.ts'
import { Writer } from './writer.ts'

const connectionWindow = 1 << 24
const drainWithinMs = 60_000
const pingData = Buffer.from('bellwire')
/** The streams reset last that are remembered. */
const mostResets = 10_000

export function openSession(options: ConnectionOptions, listener: ConnectionListener): Connection {
  return new Session(options, listener)
}

class Session implements Connection, ReaderEvents {
  state: Connection['state'] = 'opening'
  readonly #limits: ConnectionLimits
  readonly #listener: ConnectionListener
  readonly #socket: Socket
  readonly #reader = new Reader(this)
  readonly #writer = new Writer()
  readonly #budget = new FloodBudget(clock.monotonic())
  readonly #outgoing: Outgoing
  /** Streams that we reset. The peer may have sent frames of them before it learned so. */
  readonly #resets = new Set<number>()
  /** The peer has not processed streams with higher numbers (§6.8). */
  #lastProcessed = Number.POSITIVE_INFINITY
  readonly #received = new ReceiveWindow(connectionWindow)
  #receivedAt = clock.monotonic()
  #error: Error | undefined
  #opened = false
  #settingsAcknowledged = false
  #scheduled = false
  #writing = false
  readonly #flushNow = (): void => this.#flush()
  /** Ends the state: opening, pinging or draining. */
  #timer: NodeJS.Timeout | undefined
  #settingsTimer: NodeJS.Timeout | undefined
  readonly #silenceCheck: NodeJS.Timeout
  readonly #closed = Promise.withResolvers<void>()

  constructor(options: ConnectionOptions, listener: ConnectionListener) {
    const { connectTimeoutMs, pingAfterMs, streams } = options.limits
    this.#limits = options.limits
    this.#listener = listener
    this.#outgoing = new Outgoing(this.#writer, options.origin, streams)
    this.#socket = openSocket(options, () => {
      this.#writer.writePreface(streamReceiveWindow, connectionWindow - defaultWindow)
      this.#flush()
    })
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#socket.on('error', (error) => {
      this.#error ??= error
    })
    this.#socket.on('close', () => this.#end(new Error('the other side closed the connection')))
    this.#timer = clock.setTimeout(
      () => this.#destroy(`no HTTP/2 connection within ${connectTimeoutMs} ms`),
      connectTimeoutMs,
    )
    this.#silenceCheck = clock
      .setInterval(() => {
        if (this.state === 'open' && this.#outgoing.streams.size > 0 && this.#isSilent()) this.#ping()
      }, pingAfterMs / 4)
      .unref()
  }

  freeStreams(): number {
    if (this.state !== 'open') return 0
    if (this.#outgoing.isUsedUp) {
      this.#drain(drainWithinMs)
      return 0
    }
    const { inFlight, maxStreams } = this.#outgoing
    if (inFlight === 0 && this.#isSilent()) {
      this.#ping()
      return 0
    }
    return maxStreams - inFlight
  }

  start(request: Http2Request, onEnd: (end: End) => void): (reason: 'late' | 'aborted') => boolean {
    const started = this.#outgoing.add(request, onEnd)
    this.#schedule()
    return (reason) => this.#cancel(started, reason)
  }

  async close(withinMs: number): Promise<void> {
    if (this.state === 'opening') this.#socket.destroy()
    else if (this.state !== 'ended') {
      this.#writer.writeGoaway()
      this.#schedule()
      this.#drain(withinMs)
    }
    await this.#closed.promise
  }

  #cancel(started: Started, reason: 'late' | 'aborted'): boolean {
    const { stream } = started
    if (!stream) {
      this.#outgoing.cancel(started)
      this.#hangUpIfDrained()
      return false
    }
    if (this.#outgoing.streams.get(stream.id) !== stream) return true
    this.#reset(stream.id, errorCode.cancel)
    this.#release(stream)
    // The peer may be slow or dead. It gets no further request before it has answered a PING.
    if (reason === 'late' && this.state === 'open') this.#ping()
    return true
  }

  // Writing

  #schedule(): void {
    if (this.#scheduled || this.#writing) return
    this.#scheduled = true
    setImmediate(this.#flushNow)
  }

  /** Encodes as much as fits into one write, and writes it. */
  #flush(): void {
    this.#scheduled = false
    if (this.#writing || this.#socket.destroyed) return
    if (this.state !== 'ended') this.#outgoing.write()
    if (this.#writer.length === 0) return
    const bytes = this.#writer.take()
    this.#writing = true
    this.#socket.write(bytes, () => {
      this.#writing = false
      this.#writer.recycle(bytes)
      if (this.#writer.length > 0 || this.#outgoing.isPending) this.#flush()
    })
  }

  // Reading

  #read(chunk: Buffer): void {
    if (this.state === 'ended') return
    this.#receivedAt = clock.monotonic()
    const error = this.#reader.read(chunk)
    if (error) this.#violated(error)
  }

  onHeaders(id: number, fields: readonly string[], ends: boolean): void {
    const stream = this.#findUnended(id)
    if (!stream) return void this.#spend()
    const fault = stream.addHeaders(fields, ends)
    if (fault !== undefined) this.#refuse(stream, fault)
    else if (ends) this.#finish(stream)
    else this.#spend()
  }

  onData(id: number, bytes: Buffer, length: number, ends: boolean): void {
    const stream = this.#findUnended(id)
    if (!this.#received.receive(length)) throw new ConnectionError(errorCode.flowControl, 'the window was exceeded')
    const increment = this.#received.takeIncrement()
    if (increment > 0) this.#writeLater().writeWindowUpdate(0, increment)
    if (!stream) return void this.#spend()
    if (bytes.length === 0 && !ends) this.#spend()
    if (!stream.received.receive(length))
      return void this.#refuse(stream, 'the window of the stream was exceeded', errorCode.flowControl)
    const fault = stream.addData(bytes)
    if (fault !== undefined) return void this.#refuse(stream, fault)
    if (ends) return void this.#finish(stream)
    const ofStream = stream.received.takeIncrement()
    if (ofStream > 0) this.#writeLater().writeWindowUpdate(id, ofStream)
  }

  onReset(id: number, code: number): void {
    const stream = this.#find(id)
    this.#spend()
    if (!stream) return
    if (code === errorCode.refusedStream) return void this.#finishWith(stream, 'refused')
    const lost = Object.assign(new Error(`the other side reset the stream (code ${code})`), { code: streamReset })
    this.#finishWith(stream, { lost, written: true })
  }

  onSettings(settings: readonly (readonly [number, number])[]): void {
    this.#spend()
    for (const [id, value] of settings) {
      // Each entry counts as a frame: one frame may have thousands.
      this.#spend()
      this.#applySetting(id, value)
    }
    this.#writeLater().writeSettingsAck()
    if (this.state === 'opening') {
      clock.clearTimeout(this.#timer)
      this.state = 'open'
      this.#opened = true
      this.#settingsTimer = clock.setTimeout(() => {
        if (!this.#settingsAcknowledged)
          this.#violated(new ConnectionError(errorCode.settingsTimeout, 'our SETTINGS were not acknowledged'))
      }, this.#limits.connectTimeoutMs)
      this.#settingsTimer.unref()
    }
    this.#listener.changed()
  }

  #applySetting(id: number, value: number): void {
    if (id === setting.headerTableSize) this.#writer.resizeTable(value)
    else if (id === setting.maxConcurrentStreams) this.#outgoing.maxStreams = Math.min(this.#limits.streams, value)
    else if (id === setting.enablePush && value !== 0)
      throw new ConnectionError(errorCode.protocol, 'a server must not enable push')
    else if (id === setting.initialWindowSize) {
      this.#outgoing.resizeWindows(value)
    } else if (id === setting.maxFrameSize) {
      if (value < leastMaxFrame || value > 0xffffff)
        throw new ConnectionError(errorCode.protocol, `SETTINGS_MAX_FRAME_SIZE ${value} is not allowed`)
      this.#writer.maxFrame = value
    }
  }

  onSettingsAck(): void {
    this.#spend()
    this.#settingsAcknowledged = true
    clock.clearTimeout(this.#settingsTimer)
  }

  onPing(data: Buffer, isAnswer: boolean): void {
    this.#spend()
    if (!isAnswer) return void this.#writeLater().writePing(data, true)
    if (this.state !== 'pinging' || !data.equals(pingData)) return
    clock.clearTimeout(this.#timer)
    this.state = 'open'
    this.#listener.changed()
  }

  onGoaway(lastStream: number, code: number, reason: string): void {
    this.#spend()
    this.#lastProcessed = Math.min(this.#lastProcessed, lastStream)
    const text = reason === '' ? '' : `: ${reason}`
    this.#error ??= new Error(`the other side ended the connection (GOAWAY ${code}${text})`)
    // After an error the peer closes the connection, and some answers may still be under way.
    if (code !== errorCode.none) this.#drain(lingerMs)
    else if (this.state !== 'draining') this.#drain(drainWithinMs)
    this.#abandonQueue()
    for (const stream of this.#outgoing.streams.values())
      if (stream.id > this.#lastProcessed) this.#finishWith(stream, 'unprocessed')
    this.#hangUpIfDrained()
  }

  onWindowUpdate(id: number, increment: number): void {
    this.#spend()
    const stream = id === 0 ? undefined : this.#find(id)
    if (id !== 0 && !stream) return
    if (increment === 0) {
      if (stream) return void this.#refuse(stream, 'WINDOW_UPDATE of 0')
      throw new ConnectionError(errorCode.protocol, 'WINDOW_UPDATE of 0')
    }
    if (!stream) this.#outgoing.growWindow(increment)
    else if (stream.sendWindow + increment > maxWindow)
      return void this.#refuse(stream, 'the window of the stream is too large', errorCode.flowControl)
    else stream.sendWindow += increment
    if (this.#outgoing.isPending) this.#schedule()
  }

  onIgnored(): void {
    this.#spend()
  }

  /** @returns undefined for a stream that has ended. @throws ConnectionError for a stream that was never started (§5.1) */
  #find(id: number): Stream | undefined {
    const stream = this.#outgoing.streams.get(id)
    if (!stream && ((id & 1) === 0 || id >= this.#outgoing.nextStream))
      throw new ConnectionError(errorCode.protocol, 'a frame of a stream that was not started')
    return stream
  }

  /** @returns undefined for a stream that we reset. @throws ConnectionError for a stream that the peer ended (§5.1) */
  #findUnended(id: number): Stream | undefined {
    const stream = this.#find(id)
    if (!stream && !this.#resets.has(id))
      throw new ConnectionError(errorCode.streamClosed, 'an answer goes on after its end')
    return stream
  }

  #spend(): void {
    if (!this.#budget.spend(clock.monotonic))
      throw new ConnectionError(errorCode.enhanceYourCalm, 'the other side floods the connection with frames')
  }

  #writeLater(): Writer {
    this.#schedule()
    return this.#writer
  }

  // The ends of requests

  #finish(stream: Stream): void {
    const end = stream.finish()
    if (typeof end === 'string') return void this.#refuse(stream, end)
    this.#budget.addAnswer()
    // The peer has answered without reading the whole body.
    if (stream.unsent) this.#reset(stream.id, errorCode.cancel)
    this.#finishWith(stream, end)
  }

  /** The answer is malformed: a stream error (§5.4.2). */
  #refuse(stream: Stream, fault: string, code: number = errorCode.protocol): void {
    this.#spend()
    this.#reset(stream.id, code)
    this.#finishWith(stream, { lost: new Error(`the answer is not valid HTTP/2: ${fault}`), written: true })
  }

  #reset(id: number, code: number): void {
    this.#writeLater().writeReset(id, code)
    this.#resets.add(id)
    if (this.#resets.size <= mostResets) return
    const [oldest] = this.#resets
    this.#resets.delete(oldest as number)
  }

  #finishWith(stream: Stream, end: End): void {
    this.#release(stream)
    stream.onEnd(end)
    if (this.state !== 'ended') this.#listener.changed()
  }

  #release(stream: Stream): void {
    this.#outgoing.release(stream)
    if (this.#outgoing.waiting > 0) this.#schedule()
    this.#hangUpIfDrained()
  }

  /** Requests that were not written can be sent on another connection. */
  #abandonQueue(): void {
    for (const { onEnd } of this.#outgoing.takeWaiting()) onEnd('unprocessed')
  }

  // The end of the connection

  #isSilent(): boolean {
    return clock.monotonic() - this.#receivedAt > this.#limits.pingAfterMs
  }

  #ping(): void {
    const { pingTimeoutMs } = this.#limits
    this.state = 'pinging'
    this.#writeLater().writePing(pingData, false)
    this.#timer = clock.setTimeout(
      () => this.#destroy(`stalled: no answer to a PING within ${pingTimeoutMs} ms`),
      pingTimeoutMs,
    )
  }

  /** Starts no further requests. */
  #drain(withinMs: number): void {
    clock.clearTimeout(this.#timer)
    this.state = 'draining'
    this.#timer = clock.setTimeout(() => this.#destroy('the connection was closed'), withinMs)
    this.#hangUpIfDrained()
  }

  #hangUpIfDrained(): void {
    if (this.state !== 'draining' || this.#outgoing.inFlight > 0) return
    this.#hangUp()
  }

  /** Sends the last frames, and closes the socket. Some peers never close their half. */
  #hangUp(): void {
    clock.clearTimeout(this.#timer)
    this.#timer = clock.setTimeout(() => this.#socket.destroy(), lingerMs)
    if (this.#writer.length > 0) this.#socket.write(this.#writer.take())
    this.#socket.end()
  }

  #violated(error: ConnectionError): void {
    if (this.state === 'ended') return
    this.#writer.writeGoaway(error.errorCode)
    this.#hangUp()
    this.#error ??= new Error(`the other side violates HTTP/2: ${error.message}`)
    this.#end(error)
  }

  #destroy(reason: string): void {
    this.#error ??= new Error(reason)
    this.#socket.destroy()
  }

  /** Ends all requests. Called when the socket is closed, or when nothing more is read. */
  #end(reason: Error): void {
    if (this.#socket.destroyed) {
      clock.clearTimeout(this.#timer)
      this.#closed.resolve()
    }
    if (this.state === 'ended') return
    this.state = 'ended'
    clock.clearTimeout(this.#settingsTimer)
    clock.clearInterval(this.#silenceCheck)
    const error = this.#error ?? reason
    this.#abandonQueue()
    for (const stream of this.#outgoing.streams.values())
      this.#finishWith(stream, stream.id > this.#lastProcessed ? 'unprocessed' : { lost: error, written: true })
    this.#listener.ended(error, this.#opened)
  }
}
