// The forms in which people write a device token, and the texts that are none. Pure.

/**
 * Removes what people add to a token by mistake: white space and quotes around it, and the brackets and spaces of Apple's NSData
 * (`<87dfa544 1daae30c …>`). Hexadecimal tokens are in lower case, because Apple ignores the case.
 *
 * @example cleanToken('"<87DFA544 …>"') // '87dfa544…'
 */
export function cleanToken(text: string): string {
  // Nearly all tokens are clean.
  if (/^[\w:.-]+$/.test(text)) return hexadecimal.test(text) ? text.toLowerCase() : text
  const [, quoted] = /^(?:"(.*)"|'(.*)')$/s.exec(text.trim())?.filter((part) => part !== undefined) ?? []
  const bare = (quoted ?? text).trim()
  const digits = bare.replace(/^<(.*)>$/s, '$1').replace(/\s/g, '')
  return hexadecimal.test(digits) ? digits.toLowerCase() : bare
}

const hexadecimal = /^[0-9a-f]{64,}$/i

/** Values of a variable that was never set, and errors of the Firebase SDK in place of a token. */
const words: ReadonlySet<string> = new Set([
  ...['', 'null', '(null)', 'undefined', 'nil', 'none', 'nan', 'true', 'false', '[object object]', 'blacklisted'],
  ...['service_not_available', 'missing_instanceid_service', 'too_many_registrations', 'authentication_failed'],
  ...['phone_registration_error', 'invalid_sender'],
])

/** A token has 64 hexadecimal digits today and may become longer. Another form could make APNs close the shared connection. */
export const apnsTokenForm = /^[0-9A-Za-z]{1,400}$/

/**
 * What is wrong with a clean token, as the end of a sentence; undefined if it can be sent. Subscriptions have a reader of their own.
 *
 * @example tokenFault('fcm_token', 'ExponentPushToken[x]') // 'is a token of Expo: send provider http:expo'
 */
export function tokenFault(kind: string, token: string): string | undefined {
  if (words.has(token.toLowerCase()))
    return `is ${JSON.stringify(token)}, which is no token: send nothing until the app has one`
  if (kind.startsWith('http:')) return undefined
  if (/^Expo(nent)?PushToken\[/.test(token))
    return "is a token of Expo: send the provider http:expo, or the device's own token"
  if (kind === 'apns')
    return apnsTokenForm.test(token) ? undefined : 'is no token of APNs: send its hexadecimal digits, at most 400'
  return /[<>[\]{}"']/.test(token) ? 'is no token of Firebase: it has quotes or brackets' : undefined
}
