// An operator's own user database: a table of players, and queries for it.

import { query } from './services/postgres.ts'

export const playerQueries = {
  blocked: 'select user_id from players where brand = :brand and blocked = 1',
  excluded: 'select user_id from players where brand = :brand and excluded = 1',
}

export interface Players {
  run(sql: string): Promise<void>
  /** Adds these users to both brands, neither blocked nor excluded. */
  add(...users: string[]): Promise<void>
  exclude(brand: string, user: string, excluded?: boolean): Promise<void>
}

/** @param url the address of an empty database: 'postgres://…?schema=…' */
export async function createPlayers(url: string): Promise<Players> {
  const run = async (sql: string): Promise<void> => void (await query(url, sql))
  await run(`create schema if not exists ${new URL(url).searchParams.get('schema')}`)
  await run(
    'create table players (brand integer, user_id text, blocked integer, excluded integer, primary key (brand, user_id))',
  )
  return {
    run,
    async add(...users) {
      for (const user of users)
        await run(`insert into players values (1, '${user}', 0, 0); insert into players values (2, '${user}', 0, 0)`)
    },
    exclude: (brand, user, excluded = true) =>
      run(`update players set excluded = ${excluded ? 1 : 0} where brand = ${brand} and user_id = '${user}'`),
  }
}
