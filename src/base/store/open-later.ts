// A PostgreSQL database that may be unreachable now, so that a process with several databases starts and serves the others.

import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Database } from './database.ts'
import { type OpenOptions, openDatabase } from './open-database.ts'
import { StoreUnavailable } from './store-unavailable.ts'
import { isUnreachable } from './unreachable.ts'
import { createWakers } from './wakers.ts'

/**
 * Opens a database. If it cannot be reached now, the returned database is unavailable, and is opened as soon as it can be reached.
 *
 * @param name for the log
 * @throws for every other error, such as a wrong password
 */
export async function openWhenReachable(url: string, options: OpenOptions, name: string): Promise<Database> {
  try {
    return await openDatabase(url, options)
  } catch (error) {
    if (!isUnreachable(error)) throw error
    emit('store.lost', { store: name, error: (error as Error).message })
    return openLater(() => openDatabase(url, options), name)
  }
}

function openLater(open: () => Promise<Database>, name: string): Database {
  const lostAt = clock.monotonic()
  const wakers = createWakers()
  /** The topics with listeners, and how to end the listening at the opened database. */
  const topics = new Map<string, () => void>()
  let opened: Database | undefined

  const loop = createLoop(`opening ${name}`, async () => {
    opened = await open()
    emit('store.back', { store: name, downMs: Math.round(clock.monotonic() - lostAt) })
    for (const topic of topics.keys()) listen(topic)
    wakers.notifyAll()
    return Number.POSITIVE_INFINITY
  })
  loop.start()

  function listen(topic: string): void {
    if (opened)
      topics.set(
        topic,
        opened.onWake(topic, () => wakers.notify(topic)),
      )
  }

  const outage = `${name} could not be reached since the start`
  async function demand(): Promise<Database> {
    if (opened) return opened
    throw new StoreUnavailable(outage)
  }

  return {
    engine: 'postgres',
    get owner() {
      return opened?.owner ?? 'not open'
    },
    get outage() {
      return opened ? opened.outage : outage
    },
    checkWrites: async () => (await demand()).checkWrites(),
    holdsLease: (owner) => opened?.holdsLease(owner) ?? false,
    commit: async (ops, options) => (await demand()).commit(ops, options),
    read: async (op) => (await demand()).read(op),
    readMerged: async (op) => (await demand()).readMerged(op),
    own: async (lock) => (await demand()).own(lock),
    alive: async (owners) => (await demand()).alive(owners),
    wake: wakers.wake,
    onWake(topic, listener) {
      if (!topics.has(topic)) {
        topics.set(topic, () => {})
        listen(topic)
      }
      return wakers.onWake(topic, listener)
    },
    dropPartitions: async (table, before) => (await demand()).dropPartitions?.(table, before) ?? 0,
    reclaim: async (tables) => (await demand()).reclaim(tables),
    scratch: async () => (await demand()).scratch(),
    scratchTable: async (columns) => (await demand()).scratchTable(columns),
    async close() {
      await loop.stop()
      for (const unlisten of topics.values()) unlisten()
      await opened?.close()
    },
  }
}
