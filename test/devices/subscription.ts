import { createECDH, randomBytes } from 'node:crypto'

/** A PushSubscription as a browser creates it, and its JSON text as the token of a device. */
export function subscription(endpoint: string): {
  readonly endpoint: string
  readonly keys: { readonly p256dh: string; readonly auth: string }
  readonly token: string
} {
  const p256dh = createECDH('prime256v1').generateKeys().toString('base64url')
  const keys = { p256dh, auth: randomBytes(16).toString('base64url') }
  return { endpoint, keys, token: JSON.stringify({ endpoint, keys }) }
}
