// Departing: the last write before the provider is called.

import type { Database } from '../store/database.ts'
import { op } from '../store/statement.ts'
import { emit } from '../runtime/events.ts'
import type { Message, Wrap } from '../providers/provider.ts'
import { insertBodies } from './messages.ts'

/**
 * Writes the messages' bodies down, marked with the attempt that now leaves, then calls the provider in the same turn.
 * The write does three things: the evidence of what was sent exists before it is sent; a claim found in flight after a
 * crash may have arrived only if it is marked (that is what we report as uncertain); and since it goes through the
 * connection that holds our ownership, a process that slept past its lease cannot call, because this write fails.
 */
export function depart(database: Database): Wrap {
  return (inner) =>
    inner.transactional
      ? inner
      : {
          ...inner,
          async send(messages, context) {
            const now = Date.now()
            await database.commit([op(insertBodies, messages.map((m) => bodyRow(m, m.attempt, now)))], { durable: false })
            if (now > context.deadline) throw new Error('the deadline passed before the call')
            emit('message.calling', { provider: inner.name, refs: messages.map((m) => m.ref) })
            return inner.send(messages, context)
          },
        }
}

export function bodyRow(m: Message, departed: number, at: number): (string | number | null)[] {
  const { tracking } = m.context
  return [m.brand, m.ref, m.key, departed, at, m.text, tracking ? JSON.stringify(tracking) : null]
}
