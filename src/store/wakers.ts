import type { Op, Statement } from './database.ts'
import type { Part } from './merge.ts'
import { op, statement } from './statement.ts'

/** On SQLite it is never run: there is nobody else to notify. The rows it returns are nothing to anybody, so it is merged. */
export const wakeStatement: Statement = {
  ...statement({
    name: 'wake',
    rank: 1_000_000,
    columns: { topic: 'text' },
    text: (rows) => `select pg_notify('bellwire', r.topic) from ${rows} r`,
  }),
  returns: false,
}

export interface Wakers {
  wake(topic: string): Op
  onWake(topic: string, listener: () => void): () => void
  /** Tells the listeners of one topic. */
  notify(topic: string): void
  /** After a gap in which hints may have been lost. */
  notifyAll(): void
  /** Tells this process's listeners of what it notifyCommitted itself. */
  notifyCommitted(parts: readonly Part[]): void
}

export function createWakers(): Wakers {
  const listeners = new Map<string, Set<() => void>>()

  // A listener's mistake is its own: it must not fail the commit of somebody else.
  function notify(topic: string): void {
    for (const listener of listeners.get(topic) ?? []) queueMicrotask(listener)
  }

  return {
    wake: (topic) => op(wakeStatement, [[topic]]),
    onWake(topic, listener) {
      const own = (): void => listener()
      const same = listeners.get(topic) ?? new Set()
      listeners.set(topic, same.add(own))
      return () => {
        if (same.delete(own) && same.size === 0) listeners.delete(topic)
      }
    },
    notify,
    notifyAll: () => [...listeners.keys()].forEach(notify),
    notifyCommitted(parts) {
      const topics = new Set<string>()
      for (const { statement, rows } of parts)
        if (statement === wakeStatement) for (const [topic] of rows) topics.add(topic as string)
      topics.forEach(notify)
    },
  }
}
