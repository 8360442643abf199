// The table requests: the body of each request, unchanged and once for all its messages, and the tracking headers. The row of a
// message has the place of its text in the body. A single request has one message: no other text is stored with it (§4.1 rule 1).

import { firstUuidv7 } from '../../base/runtime/ids.ts'
import type { Database, Migration, Op, Value } from '../../base/store/database.ts'
import { insertNew } from '../../base/store/insert-new.ts'
import { op, statement } from '../../base/store/statement.ts'
import type { Message, Request } from '../providers/provider.ts'
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

/** Stores requests without a condition: for messages that begin another attempt. */
const insertRequests = insertNew({
  name: 'insert_requests',
  table: 'requests',
  key: 'id',
  columns: { id: 'text', text: 'text', tracking: 'text' },
})

/** Stores a request only if it has a new message: a request that is repeated is not stored again. */
const insertClaimedRequests = statement({
  name: 'insert_claimed_requests',
  columns: { id: 'text', text: 'text', tracking: 'text', first: 'text', last: 'text' },
  text: (rows) => `
    insert into requests (id, text, tracking)
    select r.id, r.text, r.tracking from ${rows} r
    where exists (select 1 from messages m where m.ref between r.first and r.last and m.request = r.id)
    on conflict (id) do nothing`,
})

/** To be committed with the claim of these messages, which have one brand: stores each request that has a new message. */
export function storeClaimedRequests(messages: readonly Message[]): Op {
  const rows: Value[][] = []
  for (const [request, ofRequest] of byRequest(messages)) {
    const [first, last] = [ofRequest[0] as Message, ofRequest.at(-1) as Message]
    rows.push([...requestRow(request, first), first.ref, last.ref])
  }
  return op(insertClaimedRequests, rows)
}

/** To be committed with another attempt of these messages: stores their requests. */
export function storeRequests(messages: readonly Message[]): Op {
  return op(
    insertRequests,
    [...byRequest(messages)].map(([request, [first]]) => requestRow(request, first as Message)),
  )
}

/** To be called when a commit has stored the request of a message. */
export function markStored({ part }: Message): void {
  if (part) part.of.stored = true
}

function byRequest(messages: readonly Message[]): ReadonlyMap<Request, readonly Message[]> {
  const found = new Map<Request, Message[]>()
  for (const message of messages) {
    const request = message.part?.of
    if (!request || request.stored) continue
    const ofRequest = found.get(request)
    if (ofRequest) ofRequest.push(message)
    else found.set(request, [message])
  }
  return found
}

const requestRow = ({ id, text }: Request, { context }: Message): Value[] => [
  id,
  text,
  context.tracking ? JSON.stringify(context.tracking) : null,
]

const selectRequests = statement<{ id: string; text: string; tracking: string | null }>({
  name: 'select_requests',
  columns: { id: 'text' },
  text: (rows) => `select q.id, q.text, q.tracking from ${rows} r join requests q on q.id = r.id`,
})

/** The text of a message, and its tracking headers as JSON. Undefined: retention has removed its request. */
export async function readRequest(
  database: Database,
  { request, start_at: start, length }: Pick<MessageRow, 'request' | 'start_at' | 'length'>,
): Promise<{ readonly text: string; readonly tracking: string | null } | undefined> {
  const [found] = await database.read(op(selectRequests, [[request]]))
  return found && { text: found.text.slice(start, start + length), tracking: found.tracking }
}

const replaceText = statement<{ id: string }>({
  name: 'replace_request_text',
  columns: { id: 'text', was: 'text', text: 'text' },
  route: 'id',
  text: (rows) => `
    update requests set text = r.text from ${rows} r where requests.id = r.id and requests.text = r.was
    returning requests.id as id`,
})

/**
 * Overwrites the texts of these messages with spaces, so that the other texts of the same request keep their places.
 *
 * @returns the number of changed requests
 */
export async function eraseTexts(database: Database, messages: readonly MessageRow[]): Promise<number> {
  let changed = 0
  for (const [id, ofRequest] of Map.groupBy(messages, ({ request }) => request))
    if (await eraseFrom(database, id, ofRequest)) changed++
  return changed
}

/** @returns false if retention has removed the request */
async function eraseFrom(database: Database, id: string, messages: readonly MessageRow[]): Promise<boolean> {
  for (;;) {
    const [found] = await database.read(op(selectRequests, [[id]]))
    if (!found) return false
    let { text } = found
    for (const { start_at: start, length } of messages)
      text = text.slice(0, start) + ' '.repeat(length) + text.slice(start + length)
    // The update fails if another process has erased from the same request meanwhile: then both changes must be kept.
    const [replaced] = await database.commit([
      op(replaceText, [[id, found.text, text]]),
      op(touchMessages, [[messages[0]?.ref ?? '']]),
    ])
    if (replaced.length > 0) return true
  }
}
