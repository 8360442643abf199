// Departing: the last write before the provider is called.

import type { Fatal } from '../contract/outcome.ts'
import type { Message, Wrap } from '../providers/provider.ts'
import { emit } from '../runtime/events.ts'
import type { Database } from '../store/database.ts'
import { op } from '../store/statement.ts'
import { insertBodies } from './messages.ts'

/**
 * Writes the messages' bodies down, marked with the attempt that now leaves, then calls the provider in the same turn.
 * The write does three things: the evidence of what was sent exists before it is sent; a claim found in flight after a
 * crash may have arrived only if it is marked (that is what we report as uncertain); and since it went through the very
 * session that made the claim, nobody else took the message over in the meantime: a process that slept past its lease has
 * lost that session and does not call.
 */
export function depart(database: Database): Wrap {
  return (inner) =>
    inner.transactional
      ? inner
      : {
          ...inner,
          async send(messages, context) {
            const now = Date.now()
            await database.commit(
              [
                op(
                  insertBodies,
                  messages.map((m) => bodyRow(m, m.attempt, now)),
                ),
              ],
              { durable: false },
            )
            if (database.owner !== context.owner) return messages.map(() => sessionLost)
            emit('message.calling', { provider: inner.name, refs: messages.map((m) => m.ref) })
            return inner.send(messages, context)
          },
        }
}

const sessionLost: Fatal = {
  category: 'fatal',
  reason: 'unavailable',
  blame: 'provider',
  rule: 'store: session lost',
  error: 'not sent: the connection to the store was lost after the message was claimed',
}

export function bodyRow(m: Message, departed: number, at: number): (string | number | null)[] {
  const { tracking } = m.context
  return [m.brand, m.ref, m.key, departed, at, m.text, tracking ? JSON.stringify(tracking) : null]
}
