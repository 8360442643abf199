// The spans of the platform (OpenTelemetry): `enqueue` for each message, and `send` for each attempt and for each call.

import type { NewItem } from '../../base/queue/queue.ts'
import { areSpansOn, beginSpan, type Span } from '../../base/runtime/spans.ts'
import { endOf, endOfAll, messageAttributes } from '../../contract/span-attributes.ts'
import type { Message, Provider, Result } from '../../subjects/providers/provider.ts'

/** Begins the trace of each item. It is stored with the item, so that every attempt belongs to it. */
export function traceEnqueue(
  lane: string,
  items: readonly NewItem[],
): { readonly items: readonly NewItem[]; end(): void } {
  if (!areSpansOn()) return { items, end() {} }
  const spans = items.map(({ traceparent }) =>
    beginSpan(`enqueue ${lane}`, {
      kind: 'producer',
      parent: traceparent,
      attributes: () => ({ 'bellwire.lane': lane, 'messaging.operation.type': 'create' }),
    }),
  )
  return {
    items: items.map((item, i) => {
      const { traceparent } = spans[i] as Span
      return traceparent === item.traceparent || traceparent === undefined ? item : { ...item, traceparent }
    }),
    end() {
      for (const span of spans) span.end()
    },
  }
}

/**
 * Sends messages within spans: one for the call, which the operator continues, and one for the attempt of each message. The call of a
 * single message belongs to the trace of the message. The call of a batch has a trace of its own, with links to its messages.
 */
export async function traceSend(
  lane: string,
  provider: Pick<Provider, 'name'>,
  messages: readonly Message[],
  send: (messages: readonly Message[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  if (!areSpansOn()) return send(messages)
  const single = messages.length === 1
  const attempt = single ? beginAttempt(lane, messages[0] as Message) : undefined
  const call = beginSpan(`call ${provider.name}`, {
    kind: 'client',
    ...(single ? { parent: attempt?.traceparent } : { links: messages.map(({ context }) => context.traceparent) }),
    attributes: () => ({
      'bellwire.lane': lane,
      'messaging.operation.type': 'send',
      'messaging.batch.message_count': messages.length,
    }),
  })
  const attempts = attempt ? [attempt] : messages.map((message) => beginAttempt(lane, message, call.traceparent))
  const results = await send(messages.map((message) => within(message, call)))
  for (const [i, result] of results.entries()) attempts[i]?.end(() => endOf(result))
  call.end(() => endOfAll(results))
  return results
}

const beginAttempt = (lane: string, message: Message, call?: string): Span =>
  beginSpan(`send ${lane}`, {
    kind: 'internal',
    parent: message.context.traceparent,
    ...(call !== undefined && { links: [call] }),
    attributes: () => ({ ...messageAttributes(message), 'bellwire.lane': lane }),
  })

/** The message with the trace of the call: its provider sends it in the header `traceparent`. */
function within(message: Message, { traceparent }: Span): Message {
  if (traceparent === undefined || traceparent === message.context.traceparent) return message
  return { ...message, context: { ...message.context, traceparent } }
}
