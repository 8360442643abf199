import type { Database } from './database.ts'
import { op, statement } from './statement.ts'

const selectOne = statement<{ one: number }>({ name: 'ping', rank: 0, columns: {}, text: () => 'select 1 as one' })

/** Rejects if the store does not answer. */
export async function ping(database: Database): Promise<void> {
  await database.read(op(selectOne, [[]]))
}
