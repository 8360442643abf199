// `bellwire backup`: copies the SQLite files of a running side into a folder.

import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Argument, Command } from 'commander'
import { makeFolder } from '../../base/runtime/make-folder.ts'
import { version } from '../../base/runtime/version.ts'
import { sealBackup } from '../../base/store/backup-folder.ts'
import { createBackupReader, type StreamEnd } from '../../base/store/backup-stream.ts'
import type { SideName } from '../../sides/admin/calls.ts'
import { CliError, exit, refuseWith } from './exit.ts'
import { print } from './output.ts'
import { type Addressed, withAddress, withSide } from './running-side.ts'
import { number } from './text-table.ts'

const scope = 'backup'

interface BackupOptions extends Addressed {
  readonly out: string
}

export function command(): Command {
  return withAddress(new Command(), 'server', [scope])
    .addArgument(new Argument('<side>', 'the side whose store is copied').choices(['operator', 'platform']))
    .requiredOption('-o, --out <folder>', 'the folder to create')
    .option('--json', 'print the manifest as one JSON object')
    .addHelpText('after', help)
    .action(async (side: SideName, options: BackupOptions) => {
      await backUp(side, options)
    })
}

const help = `
Copies all files of the SQLite store of a running side, of one moment, into a new folder, checks the copy, and writes manifest.json with its
digests. The side goes on meanwhile. At the end it writes the changes of the time of the copy into its file: its commits wait for a
moment. The folder has every text, token and secret of the store. A PostgreSQL store is backed up with pg_dump or pg_basebackup.

The first key with the scope backup is used. docs/running.md says what to do after a loss.

Examples:
  bellwire backup platform --out /backups/platform-2026-01-31
  bellwire restore /backups/platform-2026-01-31 --check
`

async function backUp(side: SideName, options: BackupOptions): Promise<void> {
  const { out } = options
  if (await stat(out).catch(() => undefined)) throw new CliError(exit.usage, `${out} exists: name a new folder`)
  const part = `${out}.part`
  try {
    makeFolder(dirname(part))
  } catch (error) {
    refuseFolder(error as Error)
  }
  await mkdir(part, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') return refuseFolder(error)
    throw new CliError(
      exit.usage,
      `${part} exists: another backup is being written to it, or one was killed. Name another folder, or remove it`,
    )
  })
  try {
    const reader = createBackupReader(async (name) => {
      const file = await open(join(part, basename(name)), 'wx', 0o600).catch(refuseFolder)
      return { write: (bytes) => file.writeFile(bytes).catch(refuseFolder), close: () => file.close() }
    })
    let end: StreamEnd | undefined
    try {
      await withSide(side, options, [scope], (client) => client.download('GET /admin/backup', {}, reader.write))
    } finally {
      end = await reader.end()
    }
    if (!end) throw new CliError(exit.unreachable, 'the backup broke off: repeat the command')
    if ('refused' in end) throw new CliError(exit.failed, end.refused)
    if (end.side !== side) throw new CliError(exit.usage, `this address is the ${end.side}, not the ${side}`)
    const manifest = await sealBackup(part, {
      side,
      at: new Date(end.at).toISOString(),
      version: version(),
    }).catch(refuseFolder)
    await rename(part, out).catch(refuseFolder)
    print(options, manifest, ({ at, files }) =>
      [
        `${side}: the state of ${at} is in ${out}`,
        ...files.map(({ name, bytes, sha256 }) => `  ${name}, ${number(bytes)} bytes, sha256 ${sha256}`),
      ].join('\n'),
    )
  } catch (error) {
    await rm(part, { recursive: true, force: true })
    throw error
  }
}

const refuseFolder = refuseWith('--out cannot be written')
