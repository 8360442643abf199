import { createHmac } from 'node:crypto'

/**
 * The headers of a signed request (Standard Webhooks 1.0). The signature is a single HMAC, so no library is used.
 *
 * @param secret whsec_ and base64, as issued by the receiver
 * @example signatureHeaders({ secret: 'whsec_…', id: 'p1', body: '{}', now: Date.now() })
 */
export function signatureHeaders({
  secret,
  id,
  body,
  now,
}: {
  readonly secret: string
  readonly id: string
  readonly body: string
  readonly now: number
}): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
