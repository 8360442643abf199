import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { cutRows, defineColumns, type ScratchColumns, type ScratchTable } from './scratch.ts'

let last = 0

/** @param demandOpen throws if the database is closed */
export function createSqliteScratchTable(
  db: DatabaseSync,
  columns: ScratchColumns,
  demandOpen: () => void,
): ScratchTable {
  const name = `temp.scratch_${++last}`
  const values = Object.keys(columns).map(() => '?')
  db.exec(`create table ${name} (${defineColumns(columns, 'text')}) without rowid`)
  return {
    name,
    async fill(rows) {
      for (const part of cutRows(rows)) {
        demandOpen()
        const insert = db.prepare(`insert into ${name} values (${values.join()})`)
        db.exec('begin')
        try {
          for (const row of part) insert.run(...row)
          db.exec('commit')
        } catch (error) {
          db.exec('rollback')
          throw error
        }
        await nextTurn()
      }
    },
    async run<Row extends object>(text: string, values: readonly SQLInputValue[] = []) {
      demandOpen()
      // For SQLite `$1` is a named parameter with the name 1.
      return db.prepare(text).all(Object.fromEntries(values.map((value, i) => [i + 1, value]))) as Row[]
    },
    async close() {
      if (db.isOpen) db.exec(`drop table if exists ${name}`)
    },
  }
}
