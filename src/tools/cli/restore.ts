// `bellwire restore`: puts the files of a backup in the place of a lost SQLite store.

import { constants, existsSync } from 'node:fs'
import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Argument, Command } from 'commander'
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
  bellwire restore /backups/platform-2026-01-31 --config bellwire.yaml
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

  const paused = side === 'platform' && !options.resume ? lanesToPause(config, Date.parse(at)) : []
  await copyFiles(targets)
  await prepareStore(targets[0] as Target, manifest, paused)
  // The file of the messages is last: without it, a repetition of the command finds the place empty.
  for (const { path } of targets.toReversed()) await rename(partOf(path), path)
  for (const { path } of targets) await flush(dirname(path))
  print(options, { side, at, paused }, () => phraseRestored(side, at, paused))
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

/** Pauses lanes, and leaves an entry in the audit trail. */
async function prepareStore({ path, migrations }: Target, { at }: BackupManifest, paused: readonly string[]) {
  const database = await openDatabase(`sqlite:${partOf(path)}`, { migrations })
  try {
    const entry = auditOps([{ act: 'restore', by: 'bellwire restore', given: { at, paused } }])
    const reason = `restored from the backup of ${at}: messages that were sent after it would be sent again`
    const pauses = paused.map((scope) => ({ scope, kind: 'pause' as const, name: '', by: 'bellwire restore', reason }))
    await setControls(database, pauses, entry)
  } finally {
    await database.close()
  }
}

/** The lanes whose messages nobody recognizes when they are sent again. An operator keeps its keys at least 90 days (row 29). */
function lanesToPause({ platform }: Config, at: number): readonly string[] {
  const isOld = Date.now() - at > keptByDefaultMs
  const lanes = platform?.lanes.filter(({ to }) => isOld || to.is !== 'operator-api') ?? []
  return lanes.map(({ brand, channel }) => laneName(brand, channel))
}

const phraseRestored = (side: string, at: string, paused: readonly string[]): string =>
  [
    `${side}: the store is restored, as of ${at}. Later changes are lost.`,
    ...(paused.length === 0
      ? []
      : [
          `Paused: ${paused.join(', ')}. What they sent after the backup would be sent again: cancel it, then \`bellwire resume\`.`,
        ]),
    `Before you start the ${side}, read "After a restore" in docs/running.md. Then repeat the erasures since ${at}.`,
  ].join('\n')
