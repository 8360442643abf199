// `bellwire restore`: puts the files of a backup in the place of a lost SQLite store, or prepares a database that PostgreSQL has restored.

import { constants, existsSync } from 'node:fs'
import { copyFile, open, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Argument, Command } from 'commander'
import type { ListedErasure } from '../../base/people/erasures.ts'
import { repeatErasures } from '../../base/people/repeat-erasures.ts'
import { setControls } from '../../base/queue/controls/controls.ts'
import { brandOf, laneName } from '../../base/queue/lane-name.ts'
import { makeFolder } from '../../base/runtime/make-folder.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { phraseCount } from '../../base/runtime/phrase-count.ts'
import { keptByDefaultMs } from '../../base/runtime/retention.ts'
import { type BackupManifest, checkBackup, flush } from '../../base/store/backup-folder.ts'
import type { Database, Migration } from '../../base/store/database.ts'
import { type Applied, demandReadable, selectApplied } from '../../base/store/migrate.ts'
import { openDatabase } from '../../base/store/open-database.ts'
import { readMoment } from '../../contract/moment.ts'
import { listStoredLanes } from '../../sides/admin/stored-lanes.ts'
import { type ReadConfig, readConfig } from '../../sides/config/load.ts'
import { ConfigError } from '../../sides/config/problem.ts'
import { withStoredLanes } from '../../sides/config/with-stored-lanes.ts'
import { auditOps } from '../../subjects/audit/table.ts'
import { homeOf } from '../../subjects/brands/configured-stores.ts'
import { withConfig } from './config-option.ts'
import { readErasureList } from './erasure-list.ts'
import { CliError, exit } from './exit.ts'
import { interruptible } from './interruptible.ts'
import { noSection } from './no-section.ts'
import { print } from './output.ts'
import { storeError } from './store-error.ts'
import { type SideStore, storesOf } from './stores-of.ts'

interface RestoreOptions {
  readonly config?: string
  readonly check?: true
  readonly at?: string
  readonly erasures?: string | false
  readonly resume?: true
  readonly json?: true
}

interface Target extends SideStore {
  /** The file in the backup. */
  readonly source: string
  readonly path: string
}

export function command(): Command {
  return withConfig(new Command())
    .addArgument(new Argument('<from>', 'the folder that `bellwire backup` made; with --at: operator or platform'))
    .option('--check', 'only check the backup and whether this version can restore it')
    .option('--at <time>', 'PostgreSQL has restored the database of the side, in its state of this time')
    .option('--erasures <file>', 'repeat the erasures of the list that `bellwire person erasures --out` wrote')
    .option('--no-erasures', 'nobody was erased after the backup')
    .option('--resume', 'pause no lane')
    .option('--json', 'print the result as one JSON object')
    .addHelpText('after', help)
    .action((from: string, options: RestoreOptions) =>
      options.at === undefined ? restoreFiles(from, options) : restoreDatabases(from, options.at, options),
    )
}

const help = `
Copies the files to the place of the store in the configuration, which must be empty: move the old files away first. The side must not
run. With --check it changes nothing.

PostgreSQL restores a database with its own tools. Then give the side and --at: the rest is done in the database.

The platform sends again what it settled after the backup, and the operator recognizes it by its key. A lane that delivers itself has
no such memory: it is paused, unless --resume is given. Cancel what it must not send again, then resume it. docs/running.md
says what else is lost, and what to repeat.

A backup has the data of people who were erased after it: give the list of erasures, or --no-erasures.

Exit codes: 0 restored or in order, 1 the backup is damaged, 2 wrong usage.

Examples:
  bellwire restore /backups/platform-2026-01-31 --check
  bellwire restore /backups/platform-2026-01-31 --erasures /other-disk/erasures.ndjson --config bellwire.yaml
  bellwire restore platform --at 2026-01-31T10:00:00Z --erasures /other-disk/erasures.ndjson
`

async function restoreFiles(folder: string, options: RestoreOptions): Promise<void> {
  const manifest = await checkBackup(folder).catch((error: Error) => {
    if (isSide(folder) && !existsSync(folder))
      throw new CliError(
        exit.usage,
        'give the time of the state that PostgreSQL has restored: --at 2026-01-31T10:00:00Z',
      )
    throw new CliError(exit.failed, error.message)
  })
  const { side, at } = manifest
  if (!isSide(side)) throw new CliError(exit.failed, `${side} is not a side`)
  const read = await readConfig(options.config)
  const stores = await storesOf[side](read.config)
  if (!stores) throw noSection(side, options.config)
  const targets = placeFiles(folder, manifest, stores)
  if (options.check)
    return print(options, { side, at, files: manifest.files.length }, () => `${side}: the backup of ${at} is in order`)

  const erasures = await readErasures(options.erasures, side)
  demandFree(targets)
  const { paused, people } = await interruptible('interrupted: nothing was restored', async (signal) => {
    const made: string[] = []
    try {
      await copyFiles(targets, made, signal)
      const databases = await openAll(targets.map((each) => ({ ...each, url: `sqlite:${partOf(each.path)}` })))
      try {
        const paused = await lanesToPause(side, read, at, options, databases)
        return { paused, people: await prepareStore(databases, at, paused, erasures) }
      } finally {
        await closeAll(databases)
      }
    } catch (error) {
      for (const part of made) for (const each of ['', '-wal', '-shm']) await rm(`${part}${each}`, { force: true })
      if (error instanceof CliError || error instanceof ConfigError) throw error
      throw new CliError(exit.failed, `nothing was restored: ${messageOf(error)}`)
    }
  })
  // The file of the messages is last: without it, a repetition of the command finds the place empty.
  for (const { path } of targets.toReversed()) await rename(partOf(path), path)
  for (const { path } of targets) await flush(dirname(path))
  print(options, { side, at, paused, people }, () => phraseRestored(side, at, paused, erasures, people))
}

/** @param time of the state that PostgreSQL has restored */
async function restoreDatabases(side: string, time: string, options: RestoreOptions): Promise<void> {
  if (!isSide(side)) throw new CliError(exit.usage, `with --at, name the side instead of ${side}: operator or platform`)
  const ms = readMoment(time)
  if (ms === undefined) throw new CliError(exit.usage, `--at ${time} is not a time such as 2026-01-31T10:00:00Z`)
  const at = new Date(ms).toISOString()
  const read = await readConfig(options.config)
  const stores = await storesOf[side](read.config)
  if (!stores) throw noSection(side, options.config)
  if (stores.some(({ url }) => url.startsWith('sqlite:')))
    throw new CliError(exit.usage, `${side}.store is a SQLite file: name the folder of its backup, without --at`)
  const erasures = await readErasures(options.erasures, side)
  const further = (side === 'platform' && read.config.platform?.stores) || []
  const databases = await openAll(stores).catch((error: unknown) => {
    throw storeError(error, side)
  })
  let paused: readonly string[]
  let people = 0
  try {
    paused = await lanesToPause(side, read, at, options, databases)
    for (const [i, database] of databases.entries()) {
      const isHere = (brand: string) => homeOf(further, brand) === (further[i - 1]?.number ?? 0)
      people += await prepareStore(
        [database],
        at,
        paused.filter((lane) => isHere(brandOf(lane))),
        erasures.filter(({ brand }) => isHere(brand)),
      )
    }
  } finally {
    await closeAll(databases)
  }
  print(options, { side, at, paused, people }, () => phraseRestored(side, at, paused, erasures, people))
}

const isSide = (name: string): name is SideName => name in storesOf
type SideName = keyof typeof storesOf

const openAll = (stores: readonly SideStore[]): Promise<readonly Database[]> =>
  Promise.all(stores.map(({ url, migrations }) => openDatabase(url, { migrations })))

const closeAll = (databases: readonly Database[]) => Promise.all(databases.map((database) => database.close()))

/** Finds the place of each file. @throws CliError if the backup does not fit the configuration or this version */
function placeFiles(folder: string, { side, files }: BackupManifest, stores: readonly SideStore[]): readonly Target[] {
  const targets = stores.flatMap((store, i) => {
    const path = store.url.startsWith('sqlite:') ? store.url.slice('sqlite:'.length) : ':memory:'
    if (path === ':memory:')
      throw new CliError(exit.usage, `${side}.store is not a SQLite file: name one, such as sqlite:${side}.db`)
    return { ...store, source: join(folder, i === 0 ? 'store.db' : 'crm.db'), path: resolve(path) }
  })
  for (const { source, migrations } of targets) {
    if (!files.some(({ name }) => join(folder, name) === source))
      throw new CliError(exit.failed, `${source} is missing in the manifest`)
    demandReadableFile(source, migrations)
  }
  return targets
}

function demandReadableFile(path: string, migrations: readonly Migration[]): void {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    demandReadable(db.prepare(selectApplied).all() as unknown as readonly Applied[], migrations)
  } catch (error) {
    throw new CliError(exit.usage, `${path}: ${(error as Error).message}`)
  } finally {
    db.close()
  }
}

const partOf = (path: string): string => `${path}.restoring`

function demandFree(targets: readonly Target[]): void {
  const present = targets.flatMap(({ path }) => [path, `${path}-wal`]).find((path) => existsSync(path))
  if (present !== undefined) throw new CliError(exit.usage, `${present} exists: stop the side and move the file away`)
  const part = targets.map(({ path }) => partOf(path)).find((path) => existsSync(path))
  if (part !== undefined)
    throw new CliError(exit.usage, `${part} exists: another restore is running, or one was killed. Remove it then`)
}

/** @param made gets the path of each copy. Nobody else writes to it */
async function copyFiles(targets: readonly Target[], made: string[], signal: AbortSignal): Promise<void> {
  for (const { source, path } of targets) {
    signal.throwIfAborted()
    makeFolder(dirname(path), 0o700)
    await (await open(partOf(path), 'wx', 0o600)).close()
    made.push(partOf(path))
    await copyFile(source, partOf(path), constants.COPYFILE_FICLONE)
    await flush(partOf(path))
  }
  signal.throwIfAborted()
}

/** @throws CliError if there is no list, or the file is none */
async function readErasures(given: string | false | undefined, side: string): Promise<readonly ListedErasure[]> {
  if (given === undefined)
    throw new CliError(
      exit.usage,
      'give the list of erasures that you keep outside of the store: --erasures FILE. People who were erased after the backup are erased again. If nobody was: --no-erasures',
    )
  if (given === false) return []
  return (await readErasureList(given, '--erasures')).filter((each) => each.side === side)
}

/** Pauses lanes, repeats erasures, and leaves an entry in the audit trail. @returns the number of repeated erasures */
async function prepareStore(
  databases: readonly Database[],
  at: string,
  paused: readonly string[],
  erasures: readonly ListedErasure[],
): Promise<number> {
  const database = databases[0] as Database
  const entry = auditOps([{ act: 'restore', by: 'bellwire restore', given: { at, paused } }])
  const reason = `restored from the backup of ${at}: messages that were sent after it would be sent again`
  const pauses = paused.map((scope) => ({ scope, kind: 'pause' as const, name: '', by: 'bellwire restore', reason }))
  await setControls(database, pauses, entry)
  return await repeatErasures(database, databases, erasures, 'bellwire restore').catch((error: Error) => {
    throw new CliError(exit.failed, error.message)
  })
}

/**
 * The lanes whose messages nobody recognizes when they are sent again, of the configuration and of the store. An operator keeps its keys at
 * least 90 days (row 29).
 */
async function lanesToPause(
  side: SideName,
  read: ReadConfig,
  at: string,
  { resume }: RestoreOptions,
  [database]: readonly Database[],
): Promise<readonly string[]> {
  if (side !== 'platform' || resume || !database) return []
  const stored = await listStoredLanes(database)
  const settings = stored.map((lane) => lane.settings)
  const { platform } = (await withStoredLanes(read, settings)).config
  const isOld = Date.now() - Date.parse(at) > keptByDefaultMs
  const lanes = platform?.lanes.filter(({ to }) => isOld || to.is !== 'operator-api') ?? []
  return lanes.map(({ brand, channel }) => laneName(brand, channel))
}

/** @param people the number of erasures whose user has data in the store */
function phraseRestored(
  side: string,
  at: string,
  paused: readonly string[],
  erasures: readonly ListedErasure[],
  people: number,
): string {
  const latest = Math.max(...erasures.map((each) => each.at))
  return [
    `${side}: the store is restored, as of ${at}. Later changes are lost.`,
    ...(paused.length === 0
      ? []
      : [
          `Paused: ${paused.join(', ')}. What they sent after the backup would be sent again: cancel it, then \`bellwire resume\`.`,
        ]),
    `Before you start the ${side}, read "After a restore" in docs/running.md.`,
    erasures.length === 0
      ? 'No erasure is repeated.'
      : `The list has ${phraseCount(erasures.length, 'erasure')}, the latest of ${new Date(latest).toISOString()}. Repeated as soon as the ${side} runs: ${people}.`,
  ].join('\n')
}
