// Random secrets of a side. They are in its store, so that all its processes have them, and the configuration does not.

import { random } from '../runtime/random.ts'
import type { Database, Migration } from './database.ts'
import { op, rows, statement } from './statement.ts'

export const secretMigrations: readonly Migration[] = [
  {
    name: 'secrets/1',
    statements: ({ key }) => [`create table side_secrets (name ${key} primary key, secret text not null)`],
  },
]

const insertSecret = statement('insert_side_secret', { name: 'text', secret: 'text' })`
  insert into side_secrets (name, secret) select r.name, r.secret from ${rows} r where true
  on conflict (name) do nothing`

const selectSecret = statement<{ secret: string }>('select_side_secret', { name: 'text' })`
  select s.secret from ${rows} r join side_secrets s on s.name = r.name`

/** Reads a secret of the side. The first call creates it. */
export async function readSideSecret(database: Database, name: string): Promise<string> {
  const read = async () => (await database.read(op(selectSecret, [[name]])))[0]?.secret
  const known = await read()
  if (known !== undefined) return known
  await database.commit([op(insertSecret, [[name, random.bytes(32).toString('base64url')]])])
  const created = await read()
  if (created === undefined) throw new Error(`the store has no secret ${name}`)
  return created
}
