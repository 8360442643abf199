// One row for each call to a provider, shared by the messages that it carried. Its only owner.

import { shortened } from '../contract/storable.ts'
import { firstUuidv7 } from '../runtime/ids.ts'
import type { Database, Migration, Op } from '../store/database.ts'
import { insertNew } from '../store/insert-new.ts'
import { op, statement } from '../store/statement.ts'

export interface Call {
  readonly id: string
  readonly provider: string
  /** When it began, and how long it took, in milliseconds. */
  readonly at: number
  readonly ms: number
  readonly messages: number
  /** The rule that decided for the first message that was not successful, else for the first. */
  readonly rule: string
  readonly answer: string | null
  readonly error: string | null
}

export const callMigrations: readonly Migration[] = [
  {
    name: 'calls/1',
    statements: ({ engine, key, partitionedBy }) => [
      `create table calls (
         id ${key} primary key, provider text not null, at bigint not null, ms bigint not null, messages bigint not null,
         rule text not null, answer text, error text)${engine === 'sqlite' ? ' without rowid' : partitionedBy('id')}`,
    ],
    partitioned: [{ table: 'calls', bound: (ms) => `'${firstUuidv7(ms)}'` }],
  },
]

// A settle that is repeated, because nobody knows whether it was committed, brings it again.
const insertCalls = insertNew({
  name: 'insert_calls',
  rank: 70,
  table: 'calls',
  key: 'id',
  columns: {
    id: 'text',
    provider: 'text',
    at: 'bigint',
    ms: 'bigint',
    messages: 'bigint',
    rule: 'text',
    answer: 'text',
    error: 'text',
  },
})

/** The op that records a call: for the settle of its messages. */
export function recordCall({ id, provider, at, ms, messages, rule, answer, error }: Call): Op {
  const text = (value: string | null): string | null => (value === null ? null : shortened(value))
  return op(insertCalls, [[id, provider, at, Math.round(ms), messages, shortened(rule), text(answer), text(error)]])
}

/** Calls by id: `database.read(op(findCall, [[id]]))`. */
export const findCall = statement<Call>({
  name: 'find_call',
  rank: 71,
  columns: { id: 'text' },
  text: (rows) => `
    select c.id, c.provider, c.at, c.ms, c.messages, c.rule, c.answer, c.error from ${rows} r join calls c on c.id = r.id order by c.at`,
})

// Identifiers begin with their time, so the oldest calls are the first of the primary key.
const deleteOld = statement<{ id: string }>({
  name: 'forget_calls',
  rank: 72,
  columns: { before: 'text', most: 'bigint' },
  text: (rows) => `
    delete from calls where id in
      (select c.id from calls c where c.id < (select r.before from ${rows} r) order by c.id limit (select r.most from ${rows} r))
    returning id`,
})

/** Forgets a bounded number of calls that began before then (epoch ms): repeat until it answers 0. */
export async function forgetCalls(database: Database, before: number, most = 2_000): Promise<number> {
  if (database.dropPartitions) return database.dropPartitions('calls', before)
  const [gone] = await database.commit([op(deleteOld, [[firstUuidv7(before), most]])])
  return gone.length
}
