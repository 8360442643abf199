// The operator's own HTTP endpoint for user attributes. One URL answers two requests:
//
//   POST {"brand":"1","fields":["blocked","excluded"],"users":["1001","1002"]}
//     → {"blocked":[],"excluded":["1002"],"timestamp":"2026-11-21T10:00:00Z"}   every requested field, and only requested users;
//       the timestamp may be absent: the time of the data, which is stored as proof with each message
//   POST {"brand":"1","field":"excluded"}
//     → NDJSON: {"timestamp":"2026-11-21T10:00:00Z"}, then one id per line ("1002"), then {"count":1}
//
// The last line distinguishes a complete list from a truncated one.

import { type AddressOptions, type CallRequest, createCaller, type OpenAnswer } from '../../base/http-client/caller.ts'
import { describeStatus } from '../../contract/describe-status.ts'
import { readMoment } from '../../contract/moment.ts'
import type { AttributeSource, Field, LookUp, Snapshot } from './attribute-source.ts'
import { chunksOf } from './id-chunks.ts'

export interface HttpOptions extends AddressOptions {
  readonly url: string
  /** The fields that the endpoint can answer. */
  readonly fields: readonly Field[]
}

const connections = 8
const maxLineLength = 1024 * 1024
/** Of a look-up. A list has no limit. */
const maxAnswerBytes = 64 * 1024 * 1024

/**
 * A source that asks an HTTP endpoint.
 *
 * @example httpSource({ url: 'https://players.internal/attributes', fields: ['blocked'], auth: { kind: 'bearer', token } })
 */
export function httpSource(options: HttpOptions): AttributeSource {
  const { url, fields } = options
  const caller = createCaller({ ...options, connections })

  async function among(brand: string, users: readonly string[], requested: readonly Field[], lookUp: LookUp) {
    const { deadline, signal, noteAsOf } = lookUp
    const request = { ...requestOf({ brand, fields: requested, users }), most: maxAnswerBytes, deadline, signal }
    const answered = await caller.call(request)
    if ('lost' in answered) throw answered.lost
    demand200(answered)
    if (answered.cut) throw new Error(`${url} sent an answer of more than ${maxAnswerBytes} bytes`)
    const answer = parseJson(answered.body.toString(), url) as Partial<Record<Field | 'timestamp', unknown>> | null
    if (answer?.timestamp !== undefined) noteAsOf?.(timeOf(answer.timestamp, url))
    return new Map(requested.map((field) => [field, new Set(userIds(answer?.[field], field, url))]))
  }

  async function all(brand: string, field: Field, { signal }: { signal: AbortSignal }): Promise<Snapshot> {
    const opened = await caller.open({ ...requestOf({ brand, field }), signal })
    if (opened.status !== 200) opened.end()
    demand200(opened)
    const lines = linesOf(opened.body, url)
    const first = await lines.next()
    const head = first.done ? undefined : (parseJson(first.value, url) as { timestamp?: unknown } | null)
    if (typeof head?.timestamp === 'string') return { timestamp: head.timestamp, chunks: chunksOf(ids(lines)) }
    await lines.return(undefined)
    throw new Error(`${url} did not start its list with {"timestamp": …}`)
  }

  function demand200({ status, headers }: Pick<OpenAnswer, 'status' | 'headers'>): void {
    if (status !== 200) throw new Error(`${url} answered ${describeStatus(status, headers.location)}; expected 200`)
  }

  async function* ids(lines: AsyncGenerator<string>): AsyncGenerator<string> {
    let seen = 0
    for await (const line of lines) {
      const value = parseJson(line, url)
      if (typeof value === 'string') {
        seen++
        yield value
        continue
      }
      const count = (value as { count?: unknown } | null)?.count
      if (count === seen) return
      throw new Error(
        typeof count === 'number'
          ? `${url} listed ${seen} users, but its count is ${count}`
          : `${url} sent a line that is neither a user id as a JSON string nor {"count": …}`,
      )
    }
    throw new Error(`${url} ended its list without {"count": …}: the list is incomplete`)
  }

  return { name: url, fields, among, all, close: caller.destroy }
}

const requestOf = (body: object): Pick<CallRequest, 'headers' | 'body'> => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

function timeOf(timestamp: unknown, url: string): number {
  const at = typeof timestamp === 'string' ? readMoment(timestamp) : undefined
  if (at !== undefined) return at
  throw new Error(`${url} answered a timestamp that is not a time such as 2026-11-21T10:00:00Z`)
}

function userIds(value: unknown, field: Field, url: string): readonly string[] {
  if (Array.isArray(value) && value.every((id) => typeof id === 'string')) return value
  throw new Error(`${url} did not answer "${field}" with a list of user ids`)
}

function parseJson(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${url} sent an answer that is not JSON`)
  }
}

async function* linesOf(body: AsyncIterable<Buffer>, url: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() as string
    if (rest.length > maxLineLength) throw new Error(`${url} sent a line of more than ${maxLineLength} characters`)
    for (const line of lines) if (line.trim() !== '') yield line
  }
  rest += decoder.decode()
  if (rest.trim() !== '') yield rest
}
