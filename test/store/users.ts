// The tables of the database tests.

import type { Migration, Value } from '../../src/base/store/database.ts'
import { rows, statement } from '../../src/base/store/statement.ts'

export type User = readonly [brand: string, id: string, born: Value, seen: Value, note: Value]

export const migrations: readonly Migration[] = [
  {
    name: 'test/1',
    statements: ({ key }) => [
      `create table users (brand ${key} not null, id ${key} not null, born bigint check (born >= 0), seen bigint, note text, primary key (brand, id))`,
    ],
  },
  { name: 'test/2', statements: ({ key, serial }) => [`create table entries (seq ${serial}, id ${key} not null)`] },
]

export const addUsers = statement<{ id: string }>({
  name: 'add_users',
  columns: { brand: 'text', id: 'text', born: 'bigint', seen: 'bigint', note: 'text' },
  route: 'id',
  text: (rows) => `
    insert into users (brand, id, born, seen, note) select r.brand, r.id, r.born, r.seen, r.note from ${rows} r where true
    on conflict (brand, id) do nothing returning id`,
})

/** The same, but returns only whether all users were added. */
export const addAll = statement<{ complete: number }>('add_all', addUsers.columns, { complete: true })`
  insert into users (brand, id, born, seen, note) select r.brand, r.id, r.born, r.seen, r.note from ${rows} r where true
  on conflict (brand, id) do nothing`

const bornLast = `
  on conflict (brand, id) do update set born = excluded.born, note = excluded.note where excluded.born > users.born`

/** A statement that SQLite runs row by row. */
export const keepLast = statement({
  name: 'keep_last',
  columns: { brand: 'text', id: 'text', born: 'bigint', note: 'text' },
  text: (rows) => `
    insert into users (brand, id, born, note)
    select g.brand, g.id, g.born, g.note from (
      select r.*, row_number() over (partition by r.brand, r.id order by r.born desc) as place from ${rows} r) g
    where g.place = 1 ${bornLast}`,
  each: (values) => `insert into users (brand, id, born, note) values (${values}) ${bornLast}`,
})

export const allUsers = statement<{ brand: string; id: string; born: Value; seen: Value; note: Value }>({
  name: 'all_users',
  columns: {},
  text: () => 'select brand, id, born, seen, note from users order by brand, id',
})

export const usersOf = statement<{ brand: string; id: string; born: Value; isBorn: Value; note: Value }>({
  name: 'users_of',
  columns: { brand: 'text' },
  route: 'brand',
  text: (rows) => `
    select u.brand, u.id, u.born, u.born is not null as "isBorn", u.note from ${rows} r join users u on u.brand = r.brand
    order by u.id desc`,
})

/** It reads another number of users for each caller. */
export const someUsers = statement<{ id: string }>('some_users', { brand: 'text', most: 'bigint' })`
  select u.id from ${rows} r join users u on u.brand = r.brand order by u.id limit (select max(m.most) from ${rows} m)`
