// Standard Webhooks: HMAC-SHA256 over "id.timestamp.body", with a list of signatures so that two secrets can be live during a
// rotation. The published package reads the clock itself, and hashes in JavaScript; the tests compare this file with it.

import { createHmac, timingSafeEqual } from 'node:crypto'

/** The headers of a signed call, in lower case. */
export const webhookHeaders = {
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
} as const

/** A signature that is older, or further ahead, is refused. */
export const webhookToleranceMs = 5 * 60_000

const prefix = 'whsec_'
const fewestSecretBytes = 24
const mostSecretBytes = 64

/**
 * Reads a secret: `whsec_` and the base64 form of 24 to 64 bytes.
 *
 * @returns the key; undefined for any other text
 */
export function webhookKey(secret: string): Buffer | undefined {
  if (!secret.startsWith(prefix)) return undefined
  const encoded = secret.slice(prefix.length)
  const key = Buffer.from(encoded, 'base64')
  if (key.toString('base64').replace(/=+$/, '') !== encoded.replace(/=+$/, '')) return undefined
  return key.length >= fewestSecretBytes && key.length <= mostSecretBytes ? key : undefined
}

/**
 * Signs a call. The id stays the same on every attempt; the timestamp and the signature are new.
 *
 * @param keys the live secrets: one, or two during a rotation
 * @param now epoch milliseconds
 */
export function signWebhook(
  keys: readonly Uint8Array[],
  id: string,
  body: string | Uint8Array,
  now: number,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000))
  return {
    [webhookHeaders.id]: id,
    [webhookHeaders.timestamp]: timestamp,
    [webhookHeaders.signature]: keys.map((key) => `v1,${hmac(key, id, timestamp, body).toString('base64')}`).join(' '),
  }
}

type SignedHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * Checks the headers of a call, before its body is read: their form, and the age.
 *
 * @param now epoch milliseconds
 * @returns undefined if the signature may be right; otherwise the fault, in one sentence
 */
export function webhookHeaderProblem(headers: SignedHeaders, now: number): string | undefined {
  const { id, timestamp, signatures } = readHeaders(headers)
  if (!id || timestamp === undefined || signatures === undefined)
    return `the headers ${Object.values(webhookHeaders).join(', ')} are needed: sign the call by Standard Webhooks`
  if (!/^[0-9]{1,11}$/.test(timestamp)) return `${webhookHeaders.timestamp} is not a number of seconds since 1970`
  const age = now - Number(timestamp) * 1_000
  if (Math.abs(age) > webhookToleranceMs)
    return `${webhookHeaders.timestamp} differs from this server's clock by more than 5 minutes: sign each attempt anew, and check the clocks`
  if (readSignatures(signatures).length === 0)
    return `${webhookHeaders.signature} has no signature of the form v1,BASE64 with 32 bytes`
  return undefined
}

/**
 * Checks the signature and the age of a call.
 *
 * @param keys the live secrets; a signature by any of them is accepted
 * @param now epoch milliseconds
 * @returns undefined if the call is authentic; otherwise the fault, in one sentence
 */
export function webhookProblem(
  keys: readonly Uint8Array[],
  headers: SignedHeaders,
  body: string | Uint8Array,
  now: number,
): string | undefined {
  const problem = webhookHeaderProblem(headers, now)
  if (problem !== undefined) return problem
  const { id = '', timestamp = '', signatures = '' } = readHeaders(headers)
  const given = readSignatures(signatures)
  for (const key of keys) {
    const expected = hmac(key, id, timestamp, body)
    if (given.some((each) => timingSafeEqual(each, expected))) return undefined
  }
  return 'the signature does not match: check the secret, and sign the body as it is sent'
}

function readHeaders(headers: SignedHeaders) {
  const textOf = (name: string): string | undefined => {
    const value = headers[name]
    return typeof value === 'string' ? value : undefined
  }
  const { id, timestamp, signature } = webhookHeaders
  return { id: textOf(id), timestamp: textOf(timestamp), signatures: textOf(signature) }
}

const signatureBytes = 32

/** Only the first ten are read. */
const readSignatures = (signatures: string): readonly Buffer[] =>
  signatures
    .split(' ', 10)
    .filter((each) => each.startsWith('v1,'))
    .map((each) => Buffer.from(each.slice(3), 'base64'))
    .filter(({ length }) => length === signatureBytes)

function hmac(key: Uint8Array, id: string, timestamp: string, body: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
}
