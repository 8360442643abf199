// The attributes of a message and of its outcome in a span. They have no data of a person: no user, device, title or text.

import type { Outcome } from './outcome.ts'

type SpanAttributes = Readonly<Record<string, string | number>>

export function messageAttributes(message: {
  readonly brand: string
  readonly channel: string
  readonly id: string
  readonly attempt: number
}): SpanAttributes {
  const { brand, channel, id, attempt } = message
  return {
    'bellwire.brand': brand,
    'bellwire.channel': channel,
    'bellwire.activity_id': id,
    'bellwire.attempt': attempt,
  }
}

/** The end of a span with one message. Its error is the rule, which names no person. */
export function endOf(outcome: Outcome): { readonly attributes: SpanAttributes; readonly error?: string } {
  const { category, rule, ref } = outcome
  const attributes = {
    'bellwire.outcome': category,
    'bellwire.rule': rule,
    ...(ref !== undefined && { 'bellwire.identifier': ref }),
  }
  if (outcome.category === 'successful') return { attributes }
  const { reason, status } = outcome
  return {
    attributes: {
      ...attributes,
      'error.type': reason,
      ...(status !== undefined && { 'http.response.status_code': status }),
    },
    error: rule,
  }
}

/** The end of a span with several messages. */
export function endOfAll(outcomes: readonly Outcome[]): {
  readonly attributes: SpanAttributes
  readonly error?: string
} {
  const counts = { successful: 0, failed: 0, fatal: 0 }
  for (const { category } of outcomes) counts[category]++
  const bad =
    outcomes.find(({ category }) => category === 'fatal') ?? outcomes.find(({ category }) => category === 'failed')
  return {
    attributes: {
      'bellwire.successful': counts.successful,
      'bellwire.failed': counts.failed,
      'bellwire.fatal': counts.fatal,
    },
    ...(bad && { error: bad.rule }),
  }
}
