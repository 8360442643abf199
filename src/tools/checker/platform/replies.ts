// The replies of the checker to a platform's requests.

import { identifierOf } from '../../../contract/endpoints.ts'
import type { Target } from '../target.ts'
import type { Given, PlatformRequest, ReceivedMessage, Reply } from './request.ts'

/** A request without a reply, for which a script decides. */
export type Open = Omit<PlatformRequest, 'reply'>

const json = { 'content-type': 'application/json' } as const
const error = 'a test of bellwire check'

/** §2.4, §7.1, §7.2: a correct answer with an outcome for each message. A single message cannot be absent. */
export function outcomes(
  { channel, mode }: Target,
  { messages }: Pick<Open, 'messages'>,
  givenOf: (message: ReceivedMessage) => Given,
): Reply {
  const decided = new Map(messages.map((message) => [message, givenOf(message)]))
  const given = (message: ReceivedMessage): Given => decided.get(message) ?? 'retry'
  const [first] = messages
  if (mode === 'single') {
    const outcome = first ? given(first) : 'fatal'
    if (outcome === 'successful') return { status: 200, headers: json, body: success(channel, first), given }
    return { status: outcome === 'failed' ? 422 : 503, headers: json, body: JSON.stringify({ error }), given }
  }
  // The order of the items has no meaning: each is identified by its id.
  const items = (outcome: Given): string =>
    messages
      .filter((message) => given(message) === outcome)
      .toReversed()
      .map((message) => item(channel, message, outcome))
      .join()
  const body = `{"successful":[${items('successful')}],"failed":[${items('failed')}],"fatal":[${items('fatal')}]}`
  return { status: 200, headers: json, body, given }
}

export const success = (channel: Target['channel'], message: ReceivedMessage | undefined): string =>
  `{"${identifierOf[channel]}":"bellwire-check-${message?.idJson ?? ''}"}`

export function item(channel: Target['channel'], { idJson }: ReceivedMessage, outcome: Given): string {
  const identifier = `"${identifierOf[channel]}":"bellwire-check-${idJson.replaceAll('"', '')}"`
  const rest = outcome === 'successful' ? identifier : `"error":"${error}"`
  return `{"id":${idJson},${rest}}`
}

export const successful = (target: Target, open: Pick<Open, 'messages'>): Reply =>
  outcomes(target, open, () => 'successful')

/** An answer with this status. @param given the outcome of each message in the answer */
export function status(code: number, given: Given, body: object | string = { error }, headers = {}): Reply {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { status: code, headers: { ...json, ...headers }, body: text, given: () => given }
}

export const reset: Reply = { cut: 'reset', given: () => 'retry' }
export const hang: Reply = { cut: 'hang', given: () => 'retry' }

/** A correct answer whose connection is cut within the body. */
export function cutBody(target: Target, open: Open): Reply {
  return { ...successful(target, open), cut: 'body', given: () => 'retry' }
}

/** For messages that the checker did not write: they stay with the platform. */
export function notOurs({ mode }: Target): Reply {
  const body = { error: 'bellwire check answers here, and takes no other messages' }
  return mode === 'single'
    ? status(503, 'fatal', body)
    : status(200, 'fatal', '{"successful":[],"failed":[],"fatal":[]}')
}
