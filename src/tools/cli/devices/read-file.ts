// Reads a file of tokens in batches for requests: NDJSON with link records (row 18), or CSV with one token per row.

import { Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { checkColumns, findShortened } from '../../../base/runtime/csv-columns.ts'
import { CliError, exit } from '../exit.ts'
import { chunks } from '../send/chunks.ts'
import { linesOf } from '../send/records.ts'

/** Values for records that lack them. */
export interface Defaults {
  readonly brand?: string | undefined
  readonly provider?: string | undefined
  /** RFC 3339. */
  readonly timestamp: string
  readonly origin: string
}

/** The records of one request. */
export interface Batch {
  /** NDJSON. */
  readonly body: string
  /** The line number in the file for each line of the body. */
  readonly lines: readonly number[]
  /** Records that cannot be sent. */
  readonly refused: readonly { readonly line: number; readonly error: string }[]
  readonly bytesRead: number
}

/** The operator accepts 1,000 records in a request. */
const maxLines = 1_000

export async function* readBatches(
  stream: AsyncIterable<Buffer>,
  format: 'csv' | 'ndjson',
  defaults: Defaults,
): AsyncGenerator<Batch> {
  let body: string[] = []
  let lines: number[] = []
  let refused: Batch['refused'][number][] = []
  let bytesRead = 0
  const cutBatch = (): Batch => {
    const batch = { body: body.join('\n'), lines, refused, bytesRead }
    body = []
    lines = []
    refused = []
    return batch
  }
  for await (const { line, value, end } of format === 'csv' ? readCsv(stream) : readNdjson(stream)) {
    bytesRead = end
    const record = toRecord(value, defaults)
    if (typeof record === 'string') refused.push({ line, error: record })
    else {
      body.push(JSON.stringify(record))
      lines.push(line)
    }
    if (body.length + refused.length >= maxLines) yield cutBatch()
  }
  if (body.length + refused.length > 0) yield cutBatch()
}

interface Row {
  readonly line: number
  /** Undefined if the row cannot be read. */
  readonly value: unknown
  readonly end: number
}

/** An export that failed must not look like a success. */
const emptyFile = 'the file is empty: nothing was imported'

async function* readNdjson(stream: AsyncIterable<Buffer>): AsyncGenerator<Row> {
  let isEmpty = true
  for await (const chunk of chunks(stream)) {
    isEmpty = false
    for (const { line, text } of linesOf(chunk)) yield { line, value: parseJson(text), end: chunk.bytesRead }
  }
  if (isEmpty) throw new CliError(exit.usage, emptyFile)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function* readCsv(stream: AsyncIterable<Buffer>): AsyncGenerator<Row> {
  let hasHeader = false
  const columns = (header: readonly string[]): string[] => {
    hasHeader = true
    return checkColumns(header, columnNames)
  }
  const rows: AsyncIterable<{ record: object; info: { lines: number; bytes: number } }> = Readable.from(stream).compose(
    parse({ columns, bom: true, trim: true, skip_empty_lines: true, info: true }),
  )
  try {
    for await (const { record, info } of rows) yield { line: info.lines, value: record, end: info.bytes }
  } catch (error) {
    throw new CliError(exit.usage, `the file is not valid CSV: ${(error as Error).message}`)
  }
  if (!hasHeader) throw new CliError(exit.usage, emptyFile)
}

/** The columns of a link record (row 18). Others are sent as they are. */
const columnNames = [
  'brand',
  'user_id',
  'timestamp',
  'origin',
  'token',
  'channel',
  'provider',
  'kind',
  'environment',
  'app',
]
const tokenFields = ['token', 'channel', 'provider', 'kind', 'environment', 'app'] as const

/** @returns the record, or the error as text */
function toRecord(value: unknown, defaults: Defaults): object | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not a JSON object'
  // An empty cell counts as missing.
  const fields = Object.fromEntries(Object.entries(value).filter(([, field]) => field !== '' && field !== null))
  const { brand } = fields
  if (brand !== undefined && defaults.brand !== undefined && String(brand) !== defaults.brand)
    return `its brand is ${brand}, not ${defaults.brand}: import each brand separately, or omit --brand`
  const { timestamp, origin } = defaults
  const common = { origin, timestamp, ...(defaults.brand !== undefined && { brand: defaults.brand }) }
  const shortened = findShortened(String(fields.user_id ?? ''))
  if (shortened !== undefined) return shortened
  if ('tokens' in fields) return { ...common, ...fields }
  const token = Object.fromEntries(tokenFields.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])))
  for (const name of tokenFields) delete fields[name]
  return { ...common, ...fields, tokens: [withProvider(token, defaults.provider)] }
}

/** Derives a missing provider from `kind` (fcm_token, apns, webpush, http:NAME), else uses the default. */
function withProvider(token: Record<string, unknown>, provider: string | undefined): object {
  if (token.provider !== undefined) return token
  const { kind, ...rest } = token
  if (kind === undefined) return provider === undefined ? rest : { ...rest, provider }
  return kind === 'fcm_token' || kind === 'fcm_fid' ? { ...token, provider: 'firebase' } : { ...rest, provider: kind }
}
