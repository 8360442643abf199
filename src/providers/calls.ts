// The table of calls: one row for each call to a provider, shared by all messages it carried. Its only owner.

import type { Migration, Op } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'

export const callMigrations: readonly Migration[] = [
  {
    name: 'calls/1',
    statements: ({ key }) => [
      `create table calls (
         id ${key} primary key, provider text not null, at bigint not null, ms bigint not null, messages bigint not null,
         rule text not null, answer text, error text)`,
    ],
  },
]

export interface Call {
  readonly id: string
  readonly provider: string
  /** When it began, epoch milliseconds, and how long it took. */
  readonly at: number
  readonly ms: number
  readonly messages: number
  readonly rule: string
  readonly answer: string | null
  readonly error: string | null
}

const insertCalls = statement({
  name: 'insert_calls',
  rank: 40,
  columns: { id: 'text', provider: 'text', at: 'bigint', ms: 'bigint', messages: 'bigint', rule: 'text', answer: 'text', error: 'text' },
  text: (rows) => `
    insert into calls (id, provider, at, ms, messages, rule, answer, error)
    select r.id, r.provider, r.at, r.ms, r.messages, r.rule, r.answer, r.error from ${rows} r where true
    on conflict (id) do nothing`,
})

export function recordCall({ id, provider, at, ms, messages, rule, answer, error }: Call): Op {
  return op(insertCalls, [[id, provider, at, ms, messages, rule, answer, error]])
}

export const findCall = statement<Call>({
  name: 'find_call',
  rank: 93,
  columns: { id: 'text' },
  text: (rows) => `
    select c.id, c.provider, c.at, c.ms, c.messages, c.rule, c.answer, c.error
    from ${rows} r join calls c on c.id = r.id order by c.at`,
})
