// The table requests: the texts of the messages that one commit claimed of one request, joined, and the tracking headers. The row of a
// message has the place of its text. No other text is stored: no refused item, no repetition, and no earlier attempt has one.

import { firstUuidv7, uuidv7 } from '../../base/runtime/ids.ts'
import type { Database, Migration, Op, Value } from '../../base/store/database.ts'
import { op, statement } from '../../base/store/statement.ts'
import type { Message } from '../providers/provider.ts'
import { type MessageRow, touchMessages } from './messages.ts'

export const requestMigrations: readonly Migration[] = [
  {
    name: 'requests/1',
    statements: ({ key, partitionedBy }) => [
      `create table requests (id ${key} primary key, text text not null, tracking text)${partitionedBy('id')}`,
    ],
    brandTables: [{ table: 'requests', key: 'id' }],
    partitioned: [{ table: 'requests', bound: (ms) => `'${firstUuidv7(ms)}'` }],
  },
]

/** The place of a message's text in a request. */
export type TextPlace = Pick<MessageRow, 'ref' | 'request' | 'start_at' | 'length'>

/** The messages of one request that are claimed together. */
export interface ClaimedRequest {
  readonly id: string
  readonly messages: readonly Message[]
}

/**
 * Joins the texts of the messages of each request. The messages of a request follow one another.
 *
 * @returns the requests in order, and the place of each message's text
 */
export function joinRequests(messages: readonly Message[]): {
  readonly requests: readonly ClaimedRequest[]
  readonly places: readonly TextPlace[]
} {
  const requests: { id: string; messages: Message[] }[] = []
  let last: (typeof requests)[number] | undefined
  let of: object | undefined
  let start = 0
  const places = messages.map((message) => {
    const { part, ref, text } = message
    if (last === undefined || part === undefined || part.of !== of) {
      last = { id: uuidv7(), messages: [] }
      requests.push(last)
      of = part?.of
      start = 0
    }
    last.messages.push(message)
    const place = { ref, request: last.id, start_at: start, length: text.length }
    start += text.length
    return place
  })
  return { requests, places }
}

/** Stores a request only if each of the counted messages names it: no other process has taken one over. */
const insertRequests = statement({
  name: 'insert_requests',
  columns: { id: 'text', text: 'text', tracking: 'text', first: 'text', last: 'text', messages: 'bigint' },
  text: (rows) => `
    insert into requests (id, text, tracking)
    select r.id, r.text, r.tracking from ${rows} r
    where r.messages = (select count(*) from messages m where m.ref between r.first and r.last and m.request = r.id)
    on conflict (id) do nothing`,
})

/**
 * To be committed with the claim of these requests, which it stores if each of their messages is claimed.
 *
 * @param claimed only these messages count: the texts of the others are spaces
 */
export function storeRequests(requests: readonly ClaimedRequest[], claimed?: ReadonlySet<Message>): Op {
  const rows: Value[][] = []
  for (const { id, messages } of requests) {
    const counted = claimed ? messages.filter((message) => claimed.has(message)) : messages
    const [first, last] = [counted[0], counted.at(-1)]
    if (!first || !last) continue
    const texts = messages.map((message) => (claimed?.has(message) === false ? blank(message.text) : message.text))
    const { tracking } = first.context
    rows.push([id, texts.join(''), tracking ? JSON.stringify(tracking) : null, first.ref, last.ref, counted.length])
  }
  return op(insertRequests, rows)
}

const selectRequests = statement<{ id: string; text: string; tracking: string | null }>({
  name: 'select_requests',
  columns: { id: 'text' },
  text: (rows) => `select q.id, q.text, q.tracking from ${rows} r join requests q on q.id = r.id`,
})

/** The text of a message, and its tracking headers as JSON. Undefined: retention has removed its request. */
export async function readRequest(
  database: Database,
  place: Pick<MessageRow, 'request' | 'start_at' | 'length'>,
): Promise<{ readonly text: string; readonly tracking: string | null } | undefined> {
  const [found] = await database.read(op(selectRequests, [[place.request]]))
  return found && { text: textAt(found.text, place), tracking: found.tracking }
}

/** @returns the stored texts of these messages, by `ref`; without those whose request retention has removed */
export async function readTexts(
  database: Database,
  places: readonly TextPlace[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(places.map(({ request }) => request))]
  const found = await database.read(op(selectRequests, ids, (id) => [id]))
  const textOf = new Map(found.map(({ id, text }) => [id, text]))
  return new Map(
    places.flatMap((place) => {
      const text = textOf.get(place.request)
      return text === undefined ? [] : [[place.ref, textAt(text, place)]]
    }),
  )
}

const textAt = (text: string, { start_at: start, length }: Pick<TextPlace, 'start_at' | 'length'>): string =>
  text.slice(start, start + length)

const replaceText = statement<{ id: string }>({
  name: 'replace_request_text',
  columns: { id: 'text', was: 'text', text: 'text' },
  route: 'id',
  text: (rows) => `
    update requests set text = r.text, tracking = case when trim(r.text) = '' then null else requests.tracking end
    from ${rows} r where requests.id = r.id and requests.text = r.was
    returning requests.id as id`,
})

/**
 * Overwrites the texts at these places with spaces, so that the other texts of the same request keep their places. With the last
 * text, the tracking headers go too.
 *
 * @returns the number of changed requests
 */
export async function eraseTexts(database: Database, places: readonly TextPlace[]): Promise<number> {
  let changed = 0
  for (const [id, ofRequest] of Map.groupBy(places, ({ request }) => request))
    if (await eraseFrom(database, id, ofRequest)) changed++
  return changed
}

/** @returns false if retention has removed the request */
async function eraseFrom(database: Database, id: string, places: readonly TextPlace[]): Promise<boolean> {
  for (;;) {
    const [found] = await database.read(op(selectRequests, [[id]]))
    if (!found) return false
    let { text } = found
    for (const place of places) {
      const { start_at: start, length } = place
      text = text.slice(0, start) + blank(textAt(text, place)) + text.slice(start + length)
    }
    // The update fails if another process has erased from the same request meanwhile: then both changes must be kept.
    const [replaced] = await database.commit([
      op(replaceText, [[id, found.text, text]]),
      op(touchMessages, [[places[0]?.ref ?? '']]),
    ])
    if (replaced.length > 0) return true
  }
}

const blank = (text: string): string => ' '.repeat(text.length)
