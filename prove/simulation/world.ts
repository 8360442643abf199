// Virtual time and a seeded scheduler. While a world is installed, the engine's clock and random values come from it, and so do
// setImmediate and the timers of libraries. Everything that happens is an event of the heap, so a seed decides the whole order.

import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { clock } from '../../src/base/runtime/clock.ts'
import { random as engineRandom } from '../../src/base/runtime/random.ts'
import type { Random } from './random.ts'

/** A simulated process. Nothing of a killed process runs any more; the events of a stopped one wait. */
export interface SimulatedProcess {
  readonly name: string
  alive: boolean
  /** How far its clock is ahead of the world's, now and when it was started. */
  skewMs: number
  readonly startedSkewMs: number
  stoppedUntil: number
}

interface Event {
  at: number
  readonly order: number
  readonly process: SimulatedProcess | undefined
  readonly action: () => void
  cancelled: boolean
}

export interface World {
  /** Milliseconds of virtual time. */
  readonly now: number
  readonly random: Random
  readonly process: SimulatedProcess | undefined
  /** @param skewMs how far its clock is ahead. Default: 0 */
  start(name: string, skewMs?: number): SimulatedProcess
  /** Runs work as a part of the process: its timers, and what follows from them, belong to it. */
  runIn<T>(process: SimulatedProcess | undefined, work: () => T): T
  /** @param process default: the process that calls */
  schedule(ms: number, action: () => void, process?: SimulatedProcess | 'world'): Event
  /** Never resolves in a process that was killed meanwhile. */
  sleep(ms: number): Promise<void>
  /** Adds to the trace, by which two runs of a seed are compared. */
  note(line: string): void
  /** Runs events until the condition holds. @returns false if it did not hold before the time */
  run(until: () => boolean, time: number): Promise<boolean>
  readonly trace: string
  /** The last lines of the trace, for people. */
  readonly recent: readonly string[]
  end(): void
}

// Each world is later than all before it: identifiers of one millisecond would otherwise continue the count of the last world.
let epoch = Date.UTC(2030, 0, 1)
const processes = new AsyncLocalStorage<SimulatedProcess | undefined>()
const realImmediate = globalThis.setImmediate

export function createWorld(random: Random): World {
  const started = epoch
  epoch += 3_600_000
  const heap: Event[] = []
  const hash = createHash('sha1')
  const recent: string[] = []
  let now = started
  let order = 0

  function schedule(
    ms: number,
    action: () => void,
    process: SimulatedProcess | 'world' | undefined = processes.getStore(),
  ): Event {
    if (process === undefined) throw new Error('this work belongs to no process: it would survive a kill')
    const at = now + Math.max(0, Number.isFinite(ms) ? ms : 0)
    const event = { at, order: order++, process: process === 'world' ? undefined : process, action, cancelled: false }
    push(heap, event)
    return event
  }

  /** One event, and everything that follows from it without time: promises and ticks. */
  function step(event: Event): Promise<void> {
    processes.run(event.process, event.action)
    return new Promise((resolve) => void realImmediate(resolve))
  }

  const uninstall = install({
    now: () => Math.floor(now) + (processes.getStore()?.skewMs ?? 0),
    monotonic: () => now - started,
    steady: () => Math.floor(now) + (processes.getStore()?.startedSkewMs ?? 0),
    schedule,
    random,
  })

  const world: World = {
    get now() {
      return now
    },
    random,
    get process() {
      return processes.getStore()
    },
    start: (name, skewMs = 0) => ({ name, alive: true, skewMs, startedSkewMs: skewMs, stoppedUntil: 0 }),
    runIn: (process, work) => processes.run(process, work),
    schedule,
    sleep: (ms) => new Promise((resolve) => void schedule(ms, resolve)),
    note(line) {
      const text = `${now - started} ${line}`
      hash.update(text)
      recent.push(text)
      if (recent.length > 400) recent.shift()
    },
    async run(until, time) {
      while (!until()) {
        const event = pop(heap)
        if (!event) return false
        if (event.cancelled || event.process?.alive === false) continue
        if (event.at > started + time) {
          push(heap, event)
          now = started + time
          return false
        }
        if (event.process && event.process.stoppedUntil > event.at) {
          event.at = event.process.stoppedUntil
          push(heap, event)
          continue
        }
        now = Math.max(now, event.at)
        await step(event)
      }
      return true
    },
    get trace() {
      return hash.copy().digest('hex')
    },
    recent,
    end: uninstall,
  }
  return world
}

interface Joints {
  readonly now: () => number
  readonly monotonic: () => number
  readonly steady: () => number
  readonly schedule: (ms: number, action: () => void) => Event
  readonly random: Random
}

/** Puts the world in the place of time, chance and setImmediate. @returns a function that removes it */
function install({ now, monotonic, steady, schedule, random }: Joints): () => void {
  const [realClock, realRandom] = [{ ...clock }, { ...engineRandom }]
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis
  const realTimers = { setTimeout, setInterval, clearTimeout, clearInterval }
  const timer = (event: { cancelled: boolean }): NodeJS.Timeout => {
    const handle = { event, unref: () => handle, ref: () => handle, hasRef: () => true }
    return handle as unknown as NodeJS.Timeout
  }
  const cancel = (handle: NodeJS.Timeout | undefined): void => {
    if (handle) (handle as unknown as { event: { cancelled: boolean } }).event.cancelled = true
  }
  Object.assign(clock, {
    now,
    monotonic,
    steady,
    setTimeout: (action: () => void, ms: number) => timer(schedule(Math.max(1, ms), action)),
    setInterval(action: () => void, ms: number) {
      const handle = { cancelled: false }
      const turn = (): void => {
        if (handle.cancelled) return
        action()
        schedule(ms, turn)
      }
      schedule(ms, turn)
      return timer(handle)
    },
    clearTimeout: cancel,
    clearInterval: cancel,
    timeout(ms: number) {
      const controller = new AbortController()
      schedule(ms, () => controller.abort(new DOMException('no answer in time', 'TimeoutError')))
      return controller.signal
    },
  })
  const [jitter, ids] = [random.fork('jitter'), random.fork('ids')]
  const fill = (bytes: Buffer): Buffer => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = ids.integer(0, 255)
    return bytes
  }
  Object.assign(engineRandom, {
    fraction: jitter.fraction,
    integer: (limit: number) => jitter.integer(0, limit - 1),
    fill,
    bytes: (count: number) => fill(Buffer.alloc(count)),
    uuid: () => fill(Buffer.alloc(16)).toString('hex'),
  })
  Object.assign(globalThis, {
    setImmediate: (action: (...values: unknown[]) => void, ...values: unknown[]) =>
      schedule(0, () => action(...values)),
    // Fastify's, at its start.
    setTimeout: clock.setTimeout,
    setInterval: clock.setInterval,
    clearTimeout: cancel,
    clearInterval: cancel,
  })
  return () => {
    Object.assign(clock, realClock)
    Object.assign(engineRandom, realRandom)
    Object.assign(globalThis, { setImmediate: realImmediate, ...realTimers })
  }
}

const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)

function push(heap: Event[], event: Event): void {
  let at = heap.push(event) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!isBefore(event, heap[parent] as Event)) break
    heap[at] = heap[parent] as Event
    at = parent
  }
  heap[at] = event
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (heap.length === 0 || !last) return first
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++
    if (!isBefore(heap[child] as Event, last)) break
    heap[at] = heap[child] as Event
    at = child
  }
  heap[at] = last
  return first
}
