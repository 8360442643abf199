// The spans of the send endpoints (OpenTelemetry): one for the request, and within it `deliver` for each message.

import { areSpansOn, beginSpan } from '../../base/runtime/spans.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { endOf, endOfAll, messageAttributes } from '../../contract/span-attributes.ts'
import type { Channel, Message } from '../../subjects/providers/provider.ts'

/** Sends the messages of one request within spans. `parent`: the header `traceparent` of the request. */
export async function traceRequest(
  { path, channel, parent }: { readonly path: string; readonly channel: Channel; readonly parent: string | undefined },
  messages: readonly Message[],
  send: (messages: readonly Message[]) => Promise<readonly Outcome[]>,
): Promise<readonly Outcome[]> {
  if (!areSpansOn()) return send(messages)
  const request = beginSpan(`POST ${path}`, {
    kind: 'server',
    parent,
    attributes: () => ({
      'http.request.method': 'POST',
      'http.route': path,
      'bellwire.channel': channel,
      'messaging.batch.message_count': messages.length,
    }),
  })
  const spans = messages.map((message) =>
    beginSpan(`deliver ${channel}`, {
      kind: 'internal',
      parent: request.traceparent,
      attributes: () => messageAttributes(message),
    }),
  )
  const outcomes = await send(
    messages.map((message, i) => {
      const traceparent = spans[i]?.traceparent
      if (traceparent === undefined || traceparent === message.context.traceparent) return message
      return { ...message, context: { ...message.context, traceparent } }
    }),
  )
  for (const [i, outcome] of outcomes.entries()) spans[i]?.end(() => endOf(outcome))
  request.end(() => endOfAll(outcomes))
  return outcomes
}
