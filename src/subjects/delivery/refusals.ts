// The table refusals: one row for each attempt that did not end successful. The row of the message has the last outcome only.

import type { Migration, Value } from '../../base/store/database.ts'
import { insertNew } from '../../base/store/insert-new.ts'
import { rows, statement } from '../../base/store/statement.ts'
import type { Failed, Fatal } from '../../contract/outcome.ts'
import type { Message } from '../providers/provider.ts'

export const refusalMigrations: readonly Migration[] = [
  {
    name: 'refusals/1',
    statements: ({ key, partitionedBy }) => [
      `create table refusals (
         brand ${key} not null, ref ${key} not null, attempt bigint not null, at bigint not null, category text not null,
         reason text not null, error text not null, rule text not null, answer text, call ${key}, uncertain bigint not null,
         primary key (brand, ref, attempt, at))${partitionedBy('at')}`,
    ],
    brandTables: [{ table: 'refusals', brand: 'brand', refersTo: { calls: 't.call' } }],
    partitioned: [{ table: 'refusals', bound: String }],
  },
]

export const insertRefusals = insertNew({
  name: 'insert_refusals',
  table: 'refusals',
  key: 'brand, ref, attempt, at',
  columns: {
    brand: 'text',
    ref: 'text',
    attempt: 'bigint',
    at: 'bigint',
    category: 'text',
    reason: 'text',
    error: 'text',
    rule: 'text',
    answer: 'text',
    call: 'text',
    uncertain: 'bigint',
  },
})

export function refusalRow(
  { brand, ref, attempt }: Message,
  { category, reason, error, rule, answer, call }: Failed | Fatal,
  uncertain: 0 | 1,
  at: number,
): Value[] {
  return [brand, ref, attempt, at, category, reason, error, rule, answer ?? null, call ?? null, uncertain]
}

export interface Refusal {
  readonly attempt: number
  readonly at: number
  readonly category: 'failed' | 'fatal'
  readonly reason: string
  readonly error: string
  readonly rule: string
  readonly answer: string | null
  readonly call: string | null
  readonly uncertain: number
}

/** The attempts of a message that did not succeed, oldest first. */
export const listRefusals = statement<Refusal>('list_refusals', { brand: 'text', ref: 'text' })`
  select f.attempt, f.at, f.category, f.reason, f.error, f.rule, f.answer, f.call, f.uncertain
  from ${rows} r join refusals f on f.brand = r.brand and f.ref = r.ref order by f.attempt`

/** Deletes all rows of these messages. */
export const eraseRefusals = statement('erase_refusals', { brand: 'text', ref: 'text' })`
  delete from refusals where (brand, ref) in (select r.brand, r.ref from ${rows} r)`

/** The calls of the refusals of these messages. */
export const selectCallsOf = statement<{ call: string | null }>('calls_of_refusals', { brand: 'text', ref: 'text' })`
  select f.call from ${rows} r join refusals f on f.brand = r.brand and f.ref = r.ref`
