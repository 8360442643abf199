// The table `calls`: one row for each call to a provider, shared by the messages of the call. Only this file accesses the table.

import { firstUuidv7 } from '../../base/runtime/ids.ts'
import type { Migration, Op } from '../../base/store/database.ts'
import { forgetOld } from '../../base/store/forget-old.ts'
import { insertNew } from '../../base/store/insert-new.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import { shortened } from '../../contract/storable.ts'

export interface Call {
  readonly id: string
  readonly provider: string
  /** Start of the call (epoch milliseconds), and its duration in milliseconds. */
  readonly at: number
  readonly ms: number
  readonly messages: number
  /** The rule that decided the outcome of the first unsuccessful message, or of the first message if all were successful. */
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
    brandTables: [{ table: 'calls', key: 'id' }],
    partitioned: [{ table: 'calls', bound: (ms) => `'${firstUuidv7(ms)}'` }],
  },
]

// A settle is repeated if it is unknown whether it was committed, so the row may exist already.
const insertCalls = insertNew({
  name: 'insert_calls',
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

/** The operation that inserts a call. It belongs into the transaction that settles the messages of the call. */
export function recordCall({ id, provider, at, ms, messages, rule, answer, error }: Call): Op {
  const text = (value: string | null): string | null => (value === null ? null : shortened(value))
  return op(insertCalls, [[id, provider, at, Math.round(ms), messages, shortened(rule), text(answer), text(error)]])
}

/** Finds calls by their ids: `database.read(op(findCall, [[id]]))`. */
export const findCall = statement<Call>('find_call', { id: 'text' })`
  select c.id, c.provider, c.at, c.ms, c.messages, c.rule, c.answer, c.error from ${rows} r join calls c on c.id = r.id order by c.at`

/** Erases answer and error, which may quote a message. The other messages of a call have the evidence in rows of their own. */
export const eraseCalls = statement('erase_calls', { id: 'text' })`
  update calls set answer = null, error = null from ${rows} r where calls.id = r.id`

export const forgetCalls = forgetOld({ table: 'calls', key: 'id', age: 'id', unit: 'id', partitioned: true })
