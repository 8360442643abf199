// A command that repeats a request. The API key is the variable API_KEY of the shell.

import type { SentRequest } from '../exchange.ts'

const keys: Readonly<Record<SentRequest['key'], string | undefined>> = {
  right: '"X: $API_KEY"',
  none: undefined,
  other: '"X: bellwire-check-wrong-key"',
  shortened: '"X: ${API_KEY%?}"',
  lengthened: '"X: ${API_KEY}x"',
  other_case: '"X: $(printf %s "$API_KEY" | tr a-zA-Z A-Za-z)"',
  empty: "'X;'",
}

/** Headers that curl sends by itself. */
const own = new Set(['accept', 'user-agent', 'content-length', 'host'])

/**
 * @param most a longer body is replaced by a placeholder, because no shell takes it
 * @example
 * const headers = { 'content-length': '2' }
 * curlOf({ method: 'POST', url: 'http://h/x', headers, key: 'right', keyHeader: 'X-Api-Key', body: '{}' }, 100)
 * // curl -sS -i -X POST 'http://h/x' -H "X-Api-Key: $API_KEY" --data-raw '{}'
 */
export function curlOf({ method, url, headers, key, keyHeader, body }: SentRequest, most: number): string {
  const parts = ['curl -sS -i', `-X ${method}`, quoted(url)]
  const keyPart = keys[key]?.replace('X', keyHeader)
  if (keyPart !== undefined) parts.push(`-H ${keyPart}`)
  for (const [name, value] of Object.entries(headers))
    if (!own.has(name)) parts.push(`-H ${quoted(`${name}: ${value}`)}`)
  if (body !== '' && !('content-length' in headers)) parts.push("-H 'transfer-encoding: chunked'")
  if (body.length > most) parts.push(`--data-raw '…' # a body of ${body.length} characters`)
  else if (headers['content-encoding'] === 'gzip')
    return `printf %s ${quoted(body)} | gzip | ${parts.join(' ')} --data-binary @-`
  else if (body !== '') parts.push(`--data-raw ${quoted(body)}`)
  return parts.join(' ')
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
