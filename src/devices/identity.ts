// By what a device is known: not by its token's text, which the same device may have in several forms.

import { hash } from 'node:crypto'

/**
 * The key of a device in our tables, 43 characters for a token of any length. Safe to show and to log: it leads to nothing
 * for whoever does not have the token.
 *
 * What counts as the token does not depend on its provider, because a message names its target by the token alone (row 4):
 * of a Web Push subscription the endpoint (new keys for the same endpoint are the same browser), of hexadecimal tokens
 * (APNs) the small letters, else the text.
 *
 * @example deviceId(subscriptionJson) === deviceId('https://push.example/send/abc')
 */
export function deviceId(token: string): string {
  return hash('sha256', canonical(token), 'base64url')
}

/** The same of a device, which may bring it along. */
export const idOf = ({ id, token }: { readonly id?: string; readonly token: string }): string => id ?? deviceId(token)

function canonical(token: string): string {
  if (token.startsWith('{')) return endpointOf(token) ?? token
  if (/^https?:/i.test(token)) return normalized(token)
  return /^[0-9a-f]{64,}$/i.test(token) ? token.toLowerCase() : token
}

function endpointOf(json: string): string | undefined {
  try {
    const { endpoint } = JSON.parse(json) as { endpoint?: unknown }
    return typeof endpoint === 'string' ? normalized(endpoint) : undefined
  } catch {
    return undefined
  }
}

/** Also for a browser's endpoint, which a page may have copied by hand. */
function normalized(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url
}
