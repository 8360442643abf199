// Departing: the last write before the provider is called.

import type { Fatal } from '../contract/outcome.ts'
import type { Flight, MayLeave, Message, SendContext, Wrap } from '../providers/provider.ts'
import { emit } from '../runtime/events.ts'
import { gather } from '../runtime/gather.ts'
import type { Database, Op } from '../store/database.ts'
import { departFlight, departPiece, keepRequests } from './flights.ts'

/**
 * Writes down that these messages leave, and the requests that brought them, then calls the provider in the same turn.
 * The write does three things: the evidence of what was sent exists before it is sent; a claim found in flight after a
 * crash may have arrived only if it had departed (that is what we report as uncertain); and since it went through the very
 * session that made the claim, nobody else took the message over in the meantime: a process that slept past its lease has
 * lost that session and does not call.
 */
export function depart(database: Database): Wrap {
  const write = async (departed: Op, messages: readonly Message[]): Promise<void> => {
    const requests = keepRequests(messages)
    try {
      await database.commit([departed, ...requests.ops], { durable: false })
    } catch (error) {
      requests.lost()
      throw error
    }
  }
  const mayLeave = (flight: Flight): Fatal | undefined => (database.owner === flight.owner ? undefined : sessionLost)

  return (inner) => {
    if (inner.transactional) return inner
    if (inner.departs)
      return { ...inner, send: (messages, context) => inner.send(messages, leaving(inner.name, context)) }
    return {
      ...inner,
      async send(messages, context) {
        const flight = context.flight as Flight
        await write(departFlight(flight, messages), messages)
        const lost = mayLeave(flight)
        if (lost) return messages.map(() => lost)
        emit('message.calling', { provider: inner.name, refs: messages.map((m) => m.ref) })
        return inner.send(messages, context)
      },
    }
  }

  /** For a provider that says itself when a message leaves: those that leave in one turn are one write. */
  function leaving(provider: string, context: SendContext): SendContext {
    const flight = context.flight as Flight
    const leave = gather<Leaving>((those) => {
      const messages = those.map(({ message }) => message)
      write(departPiece(flight, messages), messages).then(
        () => {
          emit('message.calling', { provider, refs: messages.map((m) => m.ref) })
          for (const { may } of those) may(() => mayLeave(flight))
        },
        (error: unknown) => {
          for (const { mayNot } of those) mayNot(error)
        },
      )
    })
    return { ...context, depart: (message) => new Promise((may, mayNot) => leave({ message, may, mayNot })) }
  }
}

interface Leaving {
  readonly message: Message
  readonly may: (still: MayLeave) => void
  readonly mayNot: (error: unknown) => void
}

const sessionLost: Fatal = {
  category: 'fatal',
  reason: 'unavailable',
  blame: 'provider',
  rule: 'store: session lost',
  error: 'not sent: the connection to the store was lost after the message was claimed',
}
