import type { Op, Statement } from './database.ts'
import type { Part } from './merge.ts'
import { op, rows, statement } from './statement.ts'

/** SQL: the channel of this schema. Another schema of the same database may have lanes with the same names. */
export const wakeChannel = `'bellwire_' || md5(current_schema())`

/** Never run on SQLite, which has no other processes to notify. Its rows are ignored: `returns` is false, so it can be merged. */
export const wakeStatement: Statement = {
  ...statement('wake', { topic: 'text' })`select pg_notify(${wakeChannel}, r.topic) from ${rows} r`,
  returns: false,
}

export interface Wakers {
  wake(topic: string): Op
  onWake(topic: string, listener: () => void): () => void
  /** Notifies the listeners of one topic. */
  notify(topic: string): void
  /** Notifies all listeners, after a time in which notifications may have been lost. */
  notifyAll(): void
  /** Notifies the listeners of this process about topics that it committed itself. */
  notifyCommitted(parts: readonly Part[]): void
}

export function createWakers(): Wakers {
  const listeners = new Map<string, Set<() => void>>()

  // An error in a listener must not fail the commit of another caller.
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
