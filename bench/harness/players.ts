// An operator's own database: two brands with equal user ids. All users of brand 1 are blocked, none of brand 2.

import { query } from '../../test/support/services/postgres.ts'
import { postgresStore, type Store } from './stores.ts'

export const blocked = 'select user_id from players where brand = :brand and blocked = 1'
export const blockedOfBrand1 = blocked.replace(':brand', "'1'")

export async function postgresPlayers(count: number): Promise<Store> {
  const store = await postgresStore()
  await query(store.url, `create schema ${new URL(store.url).searchParams.get('schema')}`)
  await query(store.url, 'create table players (brand text not null, user_id text not null, blocked int not null)')
  await query(
    store.url,
    `insert into players select '1', 'player-' || (n::bigint * 7919 % 100000000), 1 from generate_series(1, ${count}) n`,
  )
  await query(store.url, `insert into players select '2', user_id, 0 from players limit ${Math.ceil(count / 10)}`)
  await query(store.url, 'vacuum analyze players')
  return store
}
