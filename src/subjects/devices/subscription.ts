// A browser's PushSubscription, as JSON text: the token of a device of kind webpush (row 18).

/**
 * Reads a PushSubscription and returns it in a canonical form, so that equal subscriptions have equal texts: endpoint and keys
 * only (browsers add expirationTime, and pages may add more).
 *
 * @returns the text, or what is wrong as the end of a sentence
 * @example readSubscription(JSON.stringify(await registration.pushManager.subscribe(…)))
 */
export function readSubscription(text: string): { readonly token: string } | { readonly invalid: string } {
  let value: unknown
  try {
    value = JSON.parse(text)
    // A page may have called JSON.stringify twice.
    if (typeof value === 'string') value = JSON.parse(value)
  } catch {
    return { invalid: 'is not the JSON text of a PushSubscription: send JSON.stringify(subscription)' }
  }
  const { endpoint, keys } = (value ?? {}) as { endpoint?: unknown; keys?: unknown }
  const { p256dh, auth } = (keys ?? {}) as { p256dh?: unknown; auth?: unknown }
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return { invalid: 'has no endpoint that is a URL' }
  const point = decodeBase64(p256dh)
  const secret = decodeBase64(auth)
  // RFC 8291 §3.1, §3.2: an uncompressed point of P-256 and 16 octets.
  if (point?.length !== 65 || point[0] !== 4) return { invalid: 'has no keys.p256dh of 65 bytes in base64url' }
  if (secret?.length !== 16) return { invalid: 'has no keys.auth of 16 bytes in base64url' }
  const canonical = { p256dh: point.toString('base64url'), auth: secret.toString('base64url') }
  return { token: JSON.stringify({ endpoint, keys: canonical }) }
}

function decodeBase64(value: unknown): Buffer | undefined {
  return typeof value === 'string' && /^[\w+/-]+=*$/.test(value) ? Buffer.from(value, 'base64url') : undefined
}
