// The receipt token of one Web Push message. The service worker of a browser has no token of its user, so the payload brings the
// permission to report statuses of this message, and of no other.

import { createHmac, timingSafeEqual } from 'node:crypto'

/** How a service worker reports the statuses of one message. */
export interface Receipt {
  /** The address that takes the report. */
  readonly url: string
  readonly token: string
}

export interface ReceiptOf {
  readonly brand: string
  readonly ref: string
}

/** @example receiptToken(secret, { brand: '1', ref: '0197…' }) // '1.0197….mQ2x…' */
export function receiptToken(secret: string, { brand, ref }: ReceiptOf): string {
  return `${brand}.${ref}.${macOf(secret, brand, ref).toString('base64url')}`
}

/** @returns the message that the token is for; undefined: none of the secrets made it */
export function readReceiptToken(secrets: readonly string[], token: string): ReceiptOf | undefined {
  const [brand = '', ref = '', mac = '', ...more] = token.split('.')
  const given = Buffer.from(mac, 'base64url')
  if (given.length !== macBytes || more.length > 0) return undefined
  const isValid = secrets.some((secret) => timingSafeEqual(macOf(secret, brand, ref), given))
  return isValid ? { brand, ref } : undefined
}

/** 128 bits: a payload has room for few bytes, and each guess is a request. */
const macBytes = 16

/** The first word keeps these MACs apart from other uses of the same secret. */
const macOf = (secret: string, brand: string, ref: string): Buffer =>
  createHmac('sha256', secret).update(`receipt\n${brand}\n${ref}`).digest().subarray(0, macBytes)
