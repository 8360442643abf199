// The outcomes that all push services share: the message is expired, too large or invalid, or no answer came.

import type { Exchanged } from '../../base/http-client/exchange.ts'
import { notEncodable, streamReset } from '../../base/http2/connection.ts'
import { clock } from '../../base/runtime/clock.ts'
import type { Failed, Fatal } from '../../contract/outcome.ts'
import { messageOf } from './lost.ts'
import type { SendContext } from './provider.ts'

export type Lost = Extract<Exchanged, { lost: Error }>

export function expired(service: string): Failed {
  return {
    category: 'failed',
    reason: 'expired',
    rule: `${service} not sent: expired`,
    error: 'the message expired before it could be sent',
  }
}

/** The size of a text in bytes if it exceeds `most`. A UTF-16 unit has at most 3 bytes, so short texts need not be measured. */
export function bytesOver(most: number, text: string): number | undefined {
  if (3 * text.length <= most) return undefined
  const bytes = Buffer.byteLength(text)
  return bytes > most ? bytes : undefined
}

export function tooLarge(service: string, bytes: number, most: number): Failed {
  return {
    category: 'failed',
    reason: 'too_large',
    rule: `${service} not sent: too large`,
    error: `the payload has ${bytes} bytes, and ${service} accepts at most ${most}: shorten the texts, data or overrides`,
  }
}

export function invalidMessage(service: string, error: string): Failed {
  return { category: 'failed', reason: 'invalid', rule: `${service} not sent: invalid`, error }
}

/** The outcome if no answer or only a part of it arrived. If the request was written, the message may have arrived. */
export function lostPush(service: string, { lost, written }: Lost, { deadline, signal }: SendContext): Fatal | Failed {
  // A request that cannot be encoded is the message's fault, and would fail again on every retry.
  if (lost.code === notEncodable) return invalidMessage(service, lost.message)
  const late = clock.now() >= deadline
  const reason = late ? 'timeout' : signal.aborted ? 'stopping' : isCertificate(lost) ? 'misconfigured' : 'unavailable'
  return {
    category: 'fatal',
    reason,
    // The reset of one stream says nothing about the next stream.
    blame: lost.code === streamReset ? 'message' : 'provider',
    rule: `${service} ${written ? 'answer lost' : 'not reached'}`,
    error: `${service}: ${late ? 'no answer in time' : describeConnectionError(lost)}`,
    ...(written && { uncertain: true }),
  }
}

/** The text of a connection error. */
export function describeConnectionError(error: Lost['lost']): string {
  const text = error.code === streamReset ? error.message : messageOf(error)
  if (isCertificate(error)) return `${text}: the certificate is not trusted; set ca to the authority that signed it`
  return text
}

const isCertificate = ({ code = '' }: { readonly code?: string }): boolean =>
  /CERT|SELF_SIGNED|VERIFY|ALTNAME/.test(code)

/** Removes secrets from the text of an answer, which may repeat parts of the request. */
export function removeSecrets(text: string, ...secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, '…')
  return clean
}
