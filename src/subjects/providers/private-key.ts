// Reads keys as hosting panels store them: on one line, with \n written out, in quotes, in base64, after a byte order mark. Pure.

import { createPrivateKey, type KeyObject } from 'node:crypto'

/**
 * Reads a private key in PEM.
 *
 * @throws an error with the cause, which does not repeat the key
 * @example readPrivateKey('-----BEGIN PRIVATE KEY-----\\nMIG…\\n-----END PRIVATE KEY-----')
 */
export function readPrivateKey(text: string): KeyObject {
  const plain = withoutWrapping(text, '-----BEGIN')
  const [, label = '', body = ''] = /-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END/s.exec(plain) ?? []
  if (/ENCRYPTED/.test(label) || /ENCRYPTED/.test(body))
    throw new Error('the key has a passphrase: remove it with openssl pkcs8 -topk8 -nocrypt -in KEY -out NEW')
  if (label.endsWith('PUBLIC KEY')) throw new Error('this is a public key: use the private key')
  // A .p12 file is binary, and decoded as text has no valid characters at some places.
  if (label.includes('CERTIFICATE') || plain.includes('\ufffd') || plain.includes('\0'))
    throw new Error('this is a certificate or a .p12 file, which is not supported: use a signing key')
  if (!label.endsWith('PRIVATE KEY'))
    throw new Error(
      'this is not a private key: give the whole text of the key, from -----BEGIN to the end of the line -----END',
    )
  // Line ends that were written out, and line ends that became spaces.
  const lines = body.replace(/\\+[nr]|[\s\\]/g, '').match(/.{1,64}/g) ?? []
  const pem = `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
  try {
    return createPrivateKey(pem)
  } catch {
    throw new Error('the key is damaged: a part of its text is missing or was changed')
  }
}

/**
 * Reads a JSON object.
 *
 * @returns undefined if the text is none
 * @example readPastedJson('"{\\"type\\":\\"service_account\\"}"') // { type: 'service_account' }
 */
export function readPastedJson(text: string): object | undefined {
  const plain = withoutWrapping(text, '{')
  for (const candidate of [plain, `"${plain}"`]) {
    const value = parse(candidate) ?? parse(escapeLineEnds(candidate))
    const object = typeof value === 'string' ? (parse(value) ?? parse(escapeLineEnds(value))) : value
    if (typeof object === 'object' && object !== null) return object
  }
  return undefined
}

/** Removes a byte order mark, quotes and base64. `start` is contained in the text that is searched. */
function withoutWrapping(text: string, start: string): string {
  const bare = text.replace(/^\ufeff/, '').trim()
  const unquoted = /^(["'`])(.*)\1$/s.exec(bare)?.[2] ?? bare
  if (unquoted.includes(start)) return unquoted
  const decoded = /^[\w+/\s-]+=*\s*$/.test(unquoted) ? Buffer.from(unquoted, 'base64').toString() : ''
  return decoded.includes(start) ? decoded.replace(/^\ufeff/, '') : unquoted
}

/** Line ends within a text of the JSON. */
const escapeLineEnds = (json: string): string =>
  json.replace(/"(?:[^"\\]|\\.)*"/gs, (text) => text.replace(/\r?\n/g, '\\n'))

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
