// `bellwire move`: moves the store of a stopped side from SQLite to PostgreSQL.

import type { DatabaseSync } from 'node:sqlite'
import { Argument, Command, Option } from 'commander'
import type pg from 'pg'
import { movedAway } from '../../base/store/migrate.ts'
import { FilesNotMoved, type MovedTable, moveFiles } from '../../base/store/move-files.ts'
import { migrateDatabase, openDatabase } from '../../base/store/open-database.ts'
import { openSqliteFile } from '../../base/store/sqlite.ts'
import { loadConfig } from '../../sides/config/load.ts'
import type { Config } from '../../sides/config/table.ts'
import { appendChain } from '../../subjects/audit/append-chain.ts'
import { type AuditRow, forgetAct } from '../../subjects/audit/chain.ts'
import { auditOps } from '../../subjects/audit/table.ts'
import { withConfig } from './config-option.ts'
import { confirm } from './confirm.ts'
import { CliError, exit } from './exit.ts'
import { noSection } from './no-section.ts'
import { toJson } from './output.ts'
import { storeError } from './store-error.ts'
import { storesOf } from './stores-of.ts'
import { number } from './text-table.ts'

type SideName = keyof typeof storesOf

interface MoveOptions {
  readonly config?: string
  readonly to: string
  readonly yes?: true
  readonly json?: true
}

export function command(): Command {
  return withConfig(new Command())
    .addArgument(new Argument('<side>', 'the side whose store is moved').choices(Object.keys(storesOf)))
    .addOption(
      new Option('--to <address>', 'postgres://USER:PASSWORD@HOST/DATABASE?schema=NAME, an empty database or schema')
        .env('BELLWIRE_MOVE_TO')
        .makeOptionMandatory(),
    )
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print one JSON object')
    .addHelpText('after', help)
    .action(async (side: SideName, options: MoveOptions) => {
      await moveSide(side, options)
    })
}

const help = `
Copies every table of the SQLite store into an empty PostgreSQL database: messages with their keys, devices, inbox, Failed Actions, statuses,
audit trail, erasures. It compares the number and the digest of the rows of each table on both sides, in one transaction: an
interrupted or failed command has moved nothing. Then the old files are refused at a start, so that nothing is sent from both.

The side must be stopped. ps shows --to to all users of this machine: prefer the variable BELLWIRE_MOVE_TO. Afterwards write the new address
in \`store\` and start the side.

Exit codes: 0 moved, 1 not moved, 2 wrong usage, 3 a store cannot be reached.

Examples:
  BELLWIRE_MOVE_TO=postgres://… bellwire move platform --config bellwire.yaml
`

async function moveSide(side: SideName, { config: file, to, yes, json }: MoveOptions): Promise<void> {
  const config = await loadConfig(file)
  const stores = await storesOf[side](config)
  const [target] = (await storesOf[side](withStore(config, side, to))) ?? []
  if (!stores || !target) throw noSection(side, file)
  if (!to.startsWith('postgres')) throw new CliError(exit.usage, '--to is not the address of a PostgreSQL database')
  const urls = stores.map(({ url }) => url)
  const other = urls.find((url) => !/^sqlite:(?!:memory:)/.test(url))
  if (other !== undefined) throw new CliError(exit.usage, `${side}.store is not a SQLite file`)
  if (!yes) await confirm(`Move the store of the ${side} to PostgreSQL?`)

  const files: DatabaseSync[] = []
  try {
    for (const { url, migrations } of stores) {
      await migrateDatabase(url, migrations)
      files.push(openSqliteFile(url.slice('sqlite:'.length)))
    }
    const began = performance.now()
    const moved = await moveFiles({
      files,
      to,
      migrations: target.migrations,
      onTable: (each) => !json && each.rows > 0 && console.error(`  ${each.table}: ${number(each.rows)} rows`),
      also: (client) => appendAudit(client, files.slice(1)),
    })
    const rows = moved.reduce((sum, each) => sum + each.rows, 0)
    for (const db of files) db.exec(`insert into migrations (name, at) values ('${movedAway}', ${Date.now()})`)
    await recordMove(to, target.migrations, moved)
    const ms = Math.round(performance.now() - began)
    if (json) return console.log(toJson({ side, rows, ms, tables: moved }))
    console.log(
      `${side}: ${number(rows)} rows are in PostgreSQL, equal in all ${moved.length} tables, after ${(ms / 1000).toFixed(1)} s. Write the new address in ${side}.store and start it.`,
    )
  } catch (error) {
    if (error instanceof FilesNotMoved) throw new CliError(exit.failed, `nothing was moved: ${error.message}`)
    throw storeError(error, side)
  } finally {
    for (const db of files) db.close()
  }
}

const withStore = (config: Config, side: SideName, store: string): Config => ({
  ...config,
  [side]: config[side] && { ...config[side], store },
})

/** On PostgreSQL the CRM is in the same database: the entries of its chain follow those of the first one. */
async function appendAudit(client: pg.Client, further: readonly DatabaseSync[]): Promise<void> {
  for (const db of further) {
    const { rows } = await client.query<AuditRow>('select serial, digest from audit order by serial desc limit 1')
    const own = db.prepare('select * from audit where act <> ? order by serial').all(forgetAct)
    const appended = [...appendChain(own as unknown as readonly AuditRow[], rows[0])]
    await client.query('insert into audit select * from json_populate_recordset(null::audit, $1)', [
      JSON.stringify(appended),
    ])
  }
}

async function recordMove(to: string, migrations: Parameters<typeof migrateDatabase>[1], moved: readonly MovedTable[]) {
  const database = await openDatabase(to, { migrations })
  const given = Object.fromEntries(moved.filter(({ rows }) => rows > 0).map(({ table, digest }) => [table, digest]))
  await database.commit(auditOps([{ act: 'move', by: 'bellwire move', given }]))
  await database.close()
}
