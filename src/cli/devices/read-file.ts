// A file of tokens, as requests: NDJSON of link records (row 18), or CSV with one token in a row.

import { parse } from 'csv-parse'
import { CliError, exit } from '../exit.ts'
import { chunks } from '../send/chunks.ts'
import { linesOf } from '../send/records.ts'

/** What is said of every record that does not say it itself. */
export interface Defaults {
  readonly brand?: string | undefined
  readonly provider?: string | undefined
  /** RFC 3339. */
  readonly timestamp: string
  readonly origin: string
}

/** As many records as one request carries. */
export interface Part {
  /** NDJSON. */
  readonly body: string
  /** The line of the file for each line of the body. */
  readonly lines: readonly number[]
  /** Those that cannot be sent at all. */
  readonly refused: readonly { readonly line: number; readonly error: string }[]
  readonly bytesRead: number
}

/** The operator takes a thousand records in a request. */
const mostLines = 1_000

export async function* parts(
  stream: AsyncIterable<Buffer>,
  format: 'csv' | 'ndjson',
  defaults: Defaults,
): AsyncGenerator<Part> {
  let body: string[] = []
  let lines: number[] = []
  let refused: Part['refused'][number][] = []
  let bytesRead = 0
  const cut = (): Part => {
    const part = { body: body.join('\n'), lines, refused, bytesRead }
    body = []
    lines = []
    refused = []
    return part
  }
  for await (const { line, value, end } of format === 'csv' ? csvRows(stream) : ndjsonLines(stream)) {
    bytesRead = end
    const record = recordOf(value, defaults)
    if (typeof record === 'string') refused.push({ line, error: record })
    else {
      body.push(JSON.stringify(record))
      lines.push(line)
    }
    if (body.length + refused.length >= mostLines) yield cut()
  }
  if (body.length + refused.length > 0) yield cut()
}

interface Row {
  readonly line: number
  /** Undefined: it cannot be read. */
  readonly value: unknown
  readonly end: number
}

async function* ndjsonLines(stream: AsyncIterable<Buffer>): AsyncGenerator<Row> {
  for await (const chunk of chunks(stream))
    for (const { line, text } of linesOf(chunk)) yield { line, value: jsonOf(text), end: chunk.bytesRead }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function* csvRows(stream: AsyncIterable<Buffer>): AsyncGenerator<Row> {
  const parser = parse({ columns: true, bom: true, trim: true, skip_empty_lines: true, info: true })
  const feeding = feed(stream, parser)
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: object
      info: { lines: number; bytes: number }
    }>)
      yield { line: info.lines, value: record, end: info.bytes }
    await feeding
  } catch (error) {
    throw new CliError(exit.usage, `this is not CSV: ${(error as Error).message}`)
  }
}

async function feed(stream: AsyncIterable<Buffer>, parser: ReturnType<typeof parse>): Promise<void> {
  try {
    for await (const part of stream) {
      if (parser.destroyed) return
      if (!parser.write(part))
        await new Promise<void>((resolve) => parser.once('drain', resolve).once('close', resolve))
    }
    parser.end()
  } catch (error) {
    parser.destroy(error as Error)
  }
}

const ofToken = ['token', 'channel', 'provider', 'kind', 'environment', 'app'] as const

/** @returns the record, or why there is none */
function recordOf(value: unknown, defaults: Defaults): object | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not a JSON object'
  // An empty cell is one that is not there.
  const given = Object.fromEntries(Object.entries(value).filter(([, one]) => one !== '' && one !== null))
  const { brand } = given
  if (brand !== undefined && defaults.brand !== undefined && String(brand) !== defaults.brand)
    return `it is of brand ${brand}, not ${defaults.brand}: import each brand by itself, or without --brand`
  const { timestamp, origin } = defaults
  const named = { origin, timestamp, ...(defaults.brand !== undefined && { brand: defaults.brand }) }
  if ('tokens' in given) return { ...named, ...given }
  const token = Object.fromEntries(ofToken.flatMap((name) => (name in given ? [[name, given[name]]] : [])))
  for (const name of ofToken) delete given[name]
  return { ...named, ...given, tokens: [withProvider(token, defaults.provider)] }
}

/** `kind` may stand for the provider: fcm_token, apns, webpush, http:NAME. */
function withProvider(token: Record<string, unknown>, provider: string | undefined): object {
  if (token.provider !== undefined) return token
  const { kind, ...rest } = token
  if (kind === undefined) return provider === undefined ? rest : { ...rest, provider }
  return kind === 'fcm_token' || kind === 'fcm_fid' ? { ...token, provider: 'firebase' } : { ...rest, provider: kind }
}
