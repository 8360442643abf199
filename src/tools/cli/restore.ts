// `bellwire restore`: puts the files of a backup in the place of a lost SQLite store.

import { constants, existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Argument, Command } from 'commander'
import type { ListedErasure } from '../../base/people/erasures.ts'
import { repeatErasures } from '../../base/people/repeat-erasures.ts'
import { setControls } from '../../base/queue/controls/controls.ts'
import { laneName } from '../../base/queue/lane-name.ts'
import { keptByDefaultMs } from '../../base/runtime/retention.ts'
import { type BackupManifest, checkBackup, flush } from '../../base/store/backup-folder.ts'
import { openDatabase } from '../../base/store/open-database.ts'
import { loadConfig } from '../../sides/config/load.ts'
import type { Config } from '../../sides/config/table.ts'
import { auditOps } from '../../subjects/audit/table.ts'
import { withConfig } from './config-option.ts'
import { CliError, exit } from './exit.ts'
import { noSection } from './no-section.ts'
import { print } from './output.ts'
import { type SideStore, storesOf } from './stores-of.ts'

interface RestoreOptions {
  readonly config?: string
  readonly check?: true
  readonly erasures?: string
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
    .addArgument(new Argument('<folder>', 'the folder that `bellwire backup` made'))
    .option('--check', 'only check the backup and whether this version can restore it')
    .option('--erasures <file>', 'repeat the erasures of the list that `bellwire person erasures` wrote')
    .option('--resume', 'pause no lane')
    .option('--json', 'print the result as one JSON object')
    .addHelpText('after', help)
    .action(restore)
}

const help = `
Copies the files to the place of the store in the configuration, which must be empty: move the old files away first. The side must not
run. With --check it changes nothing.

The platform sends again what it settled after the backup, and the operator recognizes it by its key. A lane that delivers itself has
no such memory: it is paused, unless --resume is given. Cancel what it must not send again, then resume it. docs/running.md
says what else is lost, and what to repeat.

Exit codes: 0 restored or in order, 1 the backup is damaged, 2 wrong usage.

Examples:
  bellwire restore /backups/platform-2026-01-31 --check
  bellwire restore /backups/platform-2026-01-31 --erasures /backups/erasures.ndjson --config bellwire.yaml
`

async function restore(folder: string, options: RestoreOptions): Promise<void> {
  const manifest = await checkBackup(folder).catch((error: Error) => {
    throw new CliError(exit.failed, error.message)
  })
  const { side, at } = manifest
  if (side !== 'operator' && side !== 'platform') throw new CliError(exit.failed, `${side} is not a side`)
  const config = await loadConfig(options.config)
  const stores = await storesOf[side](config)
  if (!stores) throw noSection(side, options.config)
  const targets = placeFiles(folder, manifest, stores)
  if (options.check)
    return print(options, { side, at, files: manifest.files.length }, () => `${side}: the backup of ${at} is in order`)

  const erasures = await readErasures(options.erasures, side)
  const paused = side === 'platform' && !options.resume ? lanesToPause(config, Date.parse(at)) : []
  await copyFiles(targets)
  const people = await prepareStore(targets, manifest, paused, erasures)
  // The file of the messages is last: without it, a repetition of the command finds the place empty.
  for (const { path } of targets.toReversed()) await rename(partOf(path), path)
  for (const { path } of targets) await flush(dirname(path))
  print(options, { side, at, paused, people }, () =>
    phraseRestored(side, at, paused, options.erasures === undefined ? undefined : people),
  )
}

/** Finds the place of each file. @throws CliError if the backup does not fit the configuration or this version */
function placeFiles(folder: string, { side, files }: BackupManifest, stores: readonly SideStore[]): readonly Target[] {
  const targets = stores.flatMap((store, i) => {
    const path = store.url.startsWith('sqlite:') ? store.url.slice('sqlite:'.length) : ':memory:'
    if (path === ':memory:')
      throw new CliError(exit.usage, `${side}.store is not a SQLite file: name one, such as sqlite:${side}.db`)
    return { ...store, source: join(folder, i === 0 ? 'store.db' : 'crm.db'), path: resolve(path) }
  })
  for (const { source, migrations } of targets) {
    const file = files.find(({ name }) => join(folder, name) === source)
    if (!file) throw new CliError(exit.failed, `${source} is missing in the manifest`)
    const unknown = file.migrations.find((name) => !migrations.some((each) => each.name === name))
    if (unknown !== undefined)
      throw new CliError(exit.usage, `the backup is from a later version, with ${unknown}: install that version`)
  }
  return targets
}

const partOf = (path: string): string => `${path}.restoring`

async function copyFiles(targets: readonly Target[]): Promise<void> {
  const present = targets.flatMap(({ path }) => [path, `${path}-wal`]).find((path) => existsSync(path))
  if (present !== undefined) throw new CliError(exit.usage, `${present} exists: stop the side and move the file away`)
  for (const { source, path } of targets) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    for (const old of ['', '-wal', '-shm']) await rm(`${partOf(path)}${old}`, { force: true })
    await copyFile(source, partOf(path), constants.COPYFILE_FICLONE)
    await flush(partOf(path))
  }
}

/** @throws CliError if the file is not a list of erasures of this side */
async function readErasures(file: string | undefined, side: string): Promise<readonly ListedErasure[]> {
  if (file === undefined) return []
  try {
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
    const all = lines.map((line) => JSON.parse(line) as ListedErasure & { readonly side: string })
    if (all.every(({ id, secret }) => typeof id === 'string' && typeof secret === 'string'))
      return all.filter((each) => each.side === side)
    throw new Error('a line has no id or no secret')
  } catch (error) {
    const why = (error as Error).message
    throw new CliError(exit.usage, `--erasures ${file} is no list of \`bellwire person erasures\`: ${why}`)
  }
}

/** Pauses lanes, repeats erasures, and leaves an entry in the audit trail. @returns the number of repeated erasures */
async function prepareStore(
  targets: readonly Target[],
  { at }: BackupManifest,
  paused: readonly string[],
  erasures: readonly ListedErasure[],
): Promise<number> {
  const stores = await Promise.all(
    targets.map(({ path, migrations }) => openDatabase(`sqlite:${partOf(path)}`, { migrations })),
  )
  const database = stores[0] as (typeof stores)[number]
  try {
    const entry = auditOps([{ act: 'restore', by: 'bellwire restore', given: { at, paused } }])
    const reason = `restored from the backup of ${at}: messages that were sent after it would be sent again`
    const pauses = paused.map((scope) => ({ scope, kind: 'pause' as const, name: '', by: 'bellwire restore', reason }))
    await setControls(database, pauses, entry)
    return await repeatErasures(database, stores, erasures, 'bellwire restore').catch((error: Error) => {
      throw new CliError(exit.failed, error.message)
    })
  } finally {
    await Promise.all(stores.map((store) => store.close()))
  }
}

/** The lanes whose messages nobody recognizes when they are sent again. An operator keeps its keys at least 90 days (row 29). */
function lanesToPause({ platform }: Config, at: number): readonly string[] {
  const isOld = Date.now() - at > keptByDefaultMs
  const lanes = platform?.lanes.filter(({ to }) => isOld || to.is !== 'operator-api') ?? []
  return lanes.map(({ brand, channel }) => laneName(brand, channel))
}

/** @param people the number of repeated erasures, if there was a list */
const phraseRestored = (side: string, at: string, paused: readonly string[], people: number | undefined): string =>
  [
    `${side}: the store is restored, as of ${at}. Later changes are lost.`,
    ...(paused.length === 0
      ? []
      : [
          `Paused: ${paused.join(', ')}. What they sent after the backup would be sent again: cancel it, then \`bellwire resume\`.`,
        ]),
    `Before you start the ${side}, read "After a restore" in docs/running.md.`,
    people === undefined
      ? `Then repeat the erasures since ${at}: no list was given (--erasures).`
      : `${people} erasures are repeated as soon as the ${side} runs.`,
  ].join('\n')
