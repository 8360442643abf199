// The key of a device. The text of a token cannot be the key, because the same token may be written in several forms.

import { hash } from 'node:crypto'
import { objectIn } from '../../base/runtime/json.ts'
import { cleanToken } from '../../contract/device-token.ts'

/**
 * Returns the key of a device in our tables: 43 characters for a token of any length. The key may be shown and logged, because
 * the token cannot be derived from it.
 *
 * The rule does not depend on the provider, because a message names its target by the token alone (row 4). The key is made
 * from the endpoint of a Web Push subscription (new keys for an endpoint are the same browser), and from the clean text of any
 * other token.
 *
 * @example deviceId(subscriptionJson) === deviceId('https://push.example/send/abc')
 */
export function deviceId(token: string): string {
  return hash('sha256', canonicalToken(token), 'base64url')
}

/** The key of a device, computed only if the device does not contain it. */
export const idOf = ({ id, token }: { readonly id?: string; readonly token: string }): string => id ?? deviceId(token)

function canonicalToken(text: string): string {
  const token = cleanToken(text)
  if (token.startsWith('{')) return endpointOf(token) ?? token
  if (/^https?:/i.test(token)) return normalizeUrl(token)
  return token
}

function endpointOf(json: string): string | undefined {
  const endpoint = objectIn(json)?.endpoint
  return typeof endpoint === 'string' ? normalizeUrl(endpoint) : undefined
}

/** Normalizes the URL of an endpoint, which a page may have built itself. */
function normalizeUrl(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url
}
