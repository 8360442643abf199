import type pg from 'pg'
import type { Value } from './database.ts'
import { encodeArray } from './postgres-arrays.ts'
import { openPostgresScratch } from './postgres-scratch.ts'
import { cutRows, defineColumns, type ScratchColumns, type ScratchTable } from './scratch.ts'

export async function openPostgresScratchTable(
  config: pg.ClientConfig,
  columns: ScratchColumns,
): Promise<ScratchTable> {
  const { run, close } = await openPostgresScratch(config)
  const name = 'pg_temp.scratch_table'
  const types = Object.values(columns)
  const arrays = types.map((type, i) => `$${i + 1}::${type}[]`)
  await run(`create temporary table scratch_table (${defineColumns(columns, 'text collate "C"')})`)
  return {
    name,
    async fill(rows) {
      for (const part of cutRows(rows)) {
        const encoded = types.map((type, column) => encodeArray(type, part, column))
        await run(
          `insert into ${name} select * from unnest(${arrays.join()})`,
          encoded as readonly unknown[] as Value[],
        )
      }
      // Without statistics the planner assumes that a table that was just filled is small.
      await run(`analyze ${name}`)
    },
    run,
    close,
  }
}
