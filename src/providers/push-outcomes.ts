// What happens alike at every push service: it is too late, it is too large, or no answer came.

import type { Failed, Fatal } from '../contract/outcome.ts'
import type { Exchanged } from './exchange.ts'
import { notEncodable, streamReset } from './http2/connection.ts'
import type { SendContext } from './provider.ts'

export type Lost = Extract<Exchanged, { lost: Error }>

export function expired(service: string): Failed {
  return {
    category: 'failed',
    reason: 'expired',
    rule: `${service} not sent: expired`,
    error: 'its lifetime was over before it could be sent',
  }
}

/** How many bytes a text has, if they are more than these. Each unit of it has three at most: a short one need not be measured. */
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
    error: `the payload has ${bytes} bytes and ${service} takes ${most}: shorten the texts, data or overrides`,
  }
}

export function notValid(service: string, error: string): Failed {
  return { category: 'failed', reason: 'invalid', rule: `${service} not sent: invalid`, error }
}

/** No answer, or half of one. Once the request was written, the message may have arrived. */
export function lostPush(service: string, { lost, written }: Lost, { deadline, signal }: SendContext): Fatal | Failed {
  // Whatever cannot be written is this message's fault, now and on every retry.
  if (lost.code === notEncodable) return notValid(service, lost.message)
  const late = Date.now() >= deadline
  const reason = late ? 'timeout' : signal.aborted ? 'stopping' : isCertificate(lost) ? 'misconfigured' : 'unavailable'
  return {
    category: 'fatal',
    reason,
    // A stream that was reset says nothing about the next one.
    blame: lost.code === streamReset ? 'message' : 'provider',
    rule: `${service} ${written ? 'answer lost' : 'not reached'}`,
    error: `${service}: ${late ? 'no answer in time' : explained(lost)}`,
    ...(written && { uncertain: true }),
  }
}

/** The error of a connection, for people. */
export function explained(error: Lost['lost']): string {
  // Of several addresses each has its own error, and the whole has no message.
  const { code = '', message } = error
  const text = message.includes(code) || code === streamReset ? message : `${code} ${message}`.trim()
  if (isCertificate(error))
    return `${text}: its certificate is not trusted here; set ca to the authority that signed it`
  return text
}

const isCertificate = ({ code = '' }: { readonly code?: string }): boolean =>
  /CERT|SELF_SIGNED|VERIFY|ALTNAME/.test(code)

/**
 * Waits no longer than until the deadline or the abort. Undefined: time was up.
 *
 * @example await inTime(token, context)
 */
export async function inTime<T>(promise: Promise<T>, { deadline, signal }: SendContext): Promise<T | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>()
  const end = (): void => resolve(undefined)
  const timer = setTimeout(end, Math.max(0, deadline - Date.now()))
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  try {
    return await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}

/** A stranger's text without our secrets: an answer may repeat what it was asked. */
export function conceal(text: string, ...secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, '…')
  return clean
}
