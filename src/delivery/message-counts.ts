// How many messages each brand has in each state, kept by triggers in the transaction that changes them: no statement can forget
// it, and a summary never reads the messages themselves.
//
// message_counts   name: a state of messages.ts, 'uncertain' (attempts that may have arrived without an answer) or 'repeated'
//                  (attempts after the first). The count of a brand is the sum over its writers: on PostgreSQL each session adds
//                  to a row of its own, so that processes do not wait for each other.

import type { Migration } from '../store/database.ts'
import { statement } from '../store/statement.ts'

export const messageCountMigrations: readonly Migration[] = [
  {
    name: 'message_counts/1',
    statements: ({ engine, key }) => [
      `create table message_counts (
         brand ${key} not null, name ${key} not null, writer integer not null, n bigint not null,
         primary key (brand, name, writer))${engine === 'sqlite' ? ' without rowid' : ' with (fillfactor = 50)'}`,
      ...(engine === 'sqlite' ? sqliteTriggers() : postgresTriggers()),
    ],
  },
]

// SQLite runs triggers for each row.
function sqliteTriggers(): readonly string[] {
  const add = (brand: string, name: string, n: string): string => `
    insert into message_counts (brand, name, writer, n) values (${brand}, ${name}, 0, ${n})
    on conflict (brand, name, writer) do update set n = n + excluded.n;`
  return [
    `create trigger messages_claimed after insert on messages begin ${add('new.brand', 'new.state', '1')} end`,
    `create trigger messages_changed after update of state on messages when old.state <> new.state begin
       ${add('old.brand', 'old.state', '-1')} ${add('new.brand', 'new.state', '1')} end`,
    `create trigger messages_uncertain after update of uncertain on messages when old.uncertain <> new.uncertain begin
       ${add('new.brand', `'uncertain'`, 'new.uncertain - old.uncertain')} end`,
    `create trigger messages_repeated after update of attempt on messages when old.attempt <> new.attempt begin
       ${add('new.brand', `'repeated'`, 'new.attempt - old.attempt')} end`,
    `create trigger messages_forgotten after delete on messages begin
       ${add('old.brand', 'old.state', '-1')}
       ${add('old.brand', `'uncertain'`, '-old.uncertain')}
       ${add('old.brand', `'repeated'`, '1 - old.attempt')} end`,
  ]
}

// PostgreSQL runs them for each statement, with the rows before and after as tables.
function postgresTriggers(): readonly string[] {
  const counted = (table: string, sign: '' | '-'): string => `
    select brand, state as name, ${sign}1 as n from ${table}
    union all select brand, 'uncertain', ${sign}uncertain from ${table} where uncertain <> 0
    union all select brand, 'repeated', ${sign}(attempt - 1) from ${table} where attempt <> 1`
  const trigger = (event: string, tables: string, ...rows: string[]): readonly string[] => [
    `create function count_messages_${event}() returns trigger language plpgsql as $$ begin
       insert into message_counts (brand, name, writer, n)
       select d.brand, d.name, pg_backend_pid(), sum(d.n) from (${rows.join(' union all ')}) d
       group by d.brand, d.name having sum(d.n) <> 0
       on conflict (brand, name, writer) do update set n = message_counts.n + excluded.n;
       return null;
     end $$`,
    `create trigger messages_${event} after ${event} on messages referencing ${tables}
       for each statement execute function count_messages_${event}()`,
  ]
  return [
    ...trigger('insert', 'new table as added', counted('added', '')),
    ...trigger('update', 'old table as removed new table as added', counted('removed', '-'), counted('added', '')),
    ...trigger('delete', 'old table as removed', counted('removed', '-')),
  ]
}

/** The counts of each brand: read with `database.read(op(countMessages, [[]]))`. */
export const countMessages = statement<{ brand: string; name: string; n: number }>({
  name: 'count_messages',
  rank: 90,
  columns: {},
  text: () => `select c.brand, c.name, sum(c.n) as n from message_counts c group by c.brand, c.name order by 1, 2`,
})
