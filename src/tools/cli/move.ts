// `bellwire move`: moves the store of a side from SQLite to PostgreSQL.

import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Argument, Command, Option } from 'commander'
import type pg from 'pg'
import { messageOf } from '../../base/runtime/message-of.ts'
import { sleep } from '../../base/runtime/sleep.ts'
import { checkBackup } from '../../base/store/backup-folder.ts'
import { type Applied, laterMigrations, movedAway, selectApplied } from '../../base/store/migrate.ts'
import { FilesNotMoved, type MovedTable, moveFiles } from '../../base/store/move-files.ts'
import { migrateDatabase, openDatabase } from '../../base/store/open-database.ts'
import { openSqliteFile } from '../../base/store/sqlite.ts'
import { StoreUnavailable } from '../../base/store/store-unavailable.ts'
import { loadConfig } from '../../sides/config/load.ts'
import type { Config } from '../../sides/config/table.ts'
import { appendChain } from '../../subjects/audit/append-chain.ts'
import { type AuditRow, forgetAct } from '../../subjects/audit/chain.ts'
import { auditOps } from '../../subjects/audit/table.ts'
import { withConfig } from './config-option.ts'
import { confirm } from './confirm.ts'
import { CliError, exit } from './exit.ts'
import { interruptible } from './interruptible.ts'
import { noSection } from './no-section.ts'
import { toJson } from './output.ts'
import { storeError } from './store-error.ts'
import { storesOf } from './stores-of.ts'
import { number } from './text-table.ts'

type SideName = keyof typeof storesOf

interface MoveOptions {
  readonly config?: string
  readonly to: string
  readonly backup?: string
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
    .option('--backup <folder>', 'copy this backup first, while the side runs, and then only what has changed')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print one JSON object')
    .addHelpText('after', help)
    .action(async (side: SideName, options: MoveOptions) => {
      await moveSide(side, options)
    })
}

const help = `
Copies every table of the SQLite store into an empty PostgreSQL database: messages with their keys, devices, inbox, Failed Actions, statuses,
audit trail, erasures. It compares the number and the digest of the rows of each table on both sides. A command that fails has moved
nothing. Then the old files are refused at a start, so that nothing is sent from both.

The side must be stopped; it answers nothing meanwhile. With --backup, a folder of \`bellwire backup\`, the command copies that first while the
side runs. It then asks you to stop the side, waits until its files are free, and copies what has changed since. ps shows --to to all users of this machine: prefer the variable BELLWIRE_MOVE_TO. Afterwards write the new address
in \`store\` and start the side.

Exit codes: 0 moved, 1 not moved, 2 wrong usage, 3 a store cannot be reached.

Examples:
  BELLWIRE_MOVE_TO=postgres://… bellwire move platform --config bellwire.yaml
  bellwire backup platform --out before && BELLWIRE_MOVE_TO=postgres://… bellwire move platform --backup before --yes
`

async function moveSide(side: SideName, { config: file, to, backup, yes, json }: MoveOptions): Promise<void> {
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
  let began = 0
  async function open(signal: AbortSignal): Promise<readonly DatabaseSync[]> {
    if (backup !== undefined) await waitForFile(side, urls[0] as string, signal)
    began = performance.now()
    for (const { url, migrations } of stores ?? []) {
      await migrateDatabase(url, migrations)
      const db = openSqliteFile(url.slice('sqlite:'.length))
      files.push(db)
      // This version would leave out the tables and columns that it does not know.
      const [later] = laterMigrations(db.prepare(selectApplied).all() as unknown as readonly Applied[], migrations)
      if (later !== undefined)
        throw new CliError(
          exit.usage,
          `a later version of Bellwire has extended the store (migration ${later.name}): move it with that version`,
        )
    }
    return files
  }
  try {
    const moved = await interruptible('interrupted: nothing was moved', async (signal) =>
      moveFiles({
        open: backup === undefined ? await opened(() => open(signal)) : () => open(signal),
        ...(backup !== undefined && { backup: await filesOf(backup, side, stores.length) }),
        to,
        migrations: target.migrations,
        onTable: (each) => !json && each.rows > 0 && console.error(`  ${each.table}: ${number(each.rows)} rows`),
        signal,
        also: (client, [, ...further]) => appendAudit(client, further),
      }),
    )
    const rows = moved.reduce((sum, each) => sum + each.rows, 0)
    markMoved(side, files)
    await recordMove(to, target.migrations, moved).catch((error: Error) => {
      console.error(`The audit trail in PostgreSQL has no entry of the move: ${error.message}`)
    })
    const ms = Math.round(performance.now() - began)
    if (json) return console.log(toJson({ side, rows, ms, tables: moved }))
    console.log(
      `${side}: ${number(rows)} rows are in PostgreSQL, equal in all ${moved.length} tables, after ${(ms / 1000).toFixed(1)} s. Write the new address in ${side}.store and start it.`,
    )
  } catch (error) {
    if (error instanceof FilesNotMoved) throw new CliError(exit.failed, `nothing was moved: ${error.message}`)
    throw error instanceof CliError ? error : storeError(error, side)
  } finally {
    for (const db of files) db.close()
  }
}

/** Opens the files now: a running side is refused before anything is copied. */
async function opened<T>(open: () => Promise<T>): Promise<() => Promise<T>> {
  const result = await open()
  return async () => result
}

/** The old files are refused at a start. */
function markMoved(side: SideName, files: readonly DatabaseSync[]): void {
  try {
    for (const db of files) db.exec(`insert into migrations (name, at) values ('${movedAway}', ${Date.now()})`)
  } catch (error) {
    throw new CliError(
      exit.failed,
      `everything is in PostgreSQL, but the old files cannot be marked (${messageOf(error)}): move them away, write the new address in ${side}.store and start it`,
    )
  }
}

/** Waits until the side has stopped. */
async function waitForFile(side: SideName, url: string, signal: AbortSignal): Promise<void> {
  for (let told = false; ; told = true) {
    try {
      openSqliteFile(url.slice('sqlite:'.length)).close()
      return
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || !/is open in another process/.test(error.message)) throw error
      if (!told) console.error(`The backup is copied. Stop the ${side} now: the command goes on by itself.`)
      await sleep(100)
      signal.throwIfAborted()
    }
  }
}

async function filesOf(folder: string, side: SideName, count: number): Promise<readonly string[]> {
  const manifest = await checkBackup(folder).catch((error: Error) => {
    throw new CliError(exit.usage, error.message)
  })
  if (manifest.side !== side) throw new CliError(exit.usage, `${folder} is a backup of the ${manifest.side}`)
  return ['store.db', 'crm.db'].slice(0, count).map((name) => join(folder, name))
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
