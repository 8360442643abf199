// The folder of a backup: the SQLite files of one side, and manifest.json with their digests.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import { addFunctions } from './sqlite.ts'

const manifestName = 'manifest.json'
/** Raised when a folder cannot be read as before. */
const format = 1

export interface BackupFile {
  /** 'store.db' */
  readonly name: string
  readonly bytes: number
  readonly sha256: string
  /** The applied migrations: a version that does not know all of them cannot read the file. */
  readonly migrations: readonly string[]
}

export interface BackupManifest {
  readonly format: number
  readonly side: string
  /** The moment of the backup: later changes are not in it. */
  readonly at: string
  /** The version of the command that wrote it. */
  readonly version: string
  readonly files: readonly BackupFile[]
}

/**
 * Completes a folder with the received files: writes each log into its file, checks the file as a database, and writes the manifest.
 *
 * @throws if a file is damaged
 */
export async function sealBackup(
  folder: string,
  of: Pick<BackupManifest, 'side' | 'at' | 'version'>,
): Promise<BackupManifest> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.db')).sort()
  const files: BackupFile[] = []
  for (const name of names) {
    const path = join(folder, name)
    const migrations = foldLog(path)
    await flush(path)
    files.push({ name, bytes: (await stat(path)).size, sha256: await digestOf(path), migrations })
  }
  const manifest = { format, ...of, files }
  const path = join(folder, manifestName)
  await writeFile(path, `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600 })
  await flush(path)
  await flush(folder)
  return manifest
}

/** @returns the names of the applied migrations */
function foldLog(path: string): readonly string[] {
  const db = new DatabaseSync(path)
  try {
    addFunctions(db)
    db.exec('pragma journal_mode = delete')
    const [result] = db.prepare('pragma integrity_check(1)').all()
    if (result?.integrity_check !== 'ok') throw new Error(`${path} is damaged: ${result?.integrity_check}`)
    return db
      .prepare('select name from migrations order by name')
      .all()
      .map(({ name }) => String(name))
  } finally {
    db.close()
  }
}

/** Reads the manifest, and compares each file with its digest. @throws an error that names what is wrong */
export async function checkBackup(folder: string): Promise<BackupManifest> {
  const path = join(folder, manifestName)
  const manifest = await readManifest(path)
  if (manifest.format !== format)
    throw new Error(`${path}: the format ${manifest.format} is not known: restore it with the version that wrote it`)
  for (const { name, sha256 } of manifest.files) {
    const found = await digestOf(join(folder, name)).catch((error: Error) => {
      throw new Error(`${name} cannot be read: ${error.message}`)
    })
    if (found !== sha256) throw new Error(`${join(folder, name)} has changed since the backup: its digest is ${found}`)
  }
  return manifest
}

async function readManifest(path: string): Promise<BackupManifest> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as BackupManifest
  } catch (error) {
    throw new Error(`${path} cannot be read, so the folder is not a complete backup: ${(error as Error).message}`)
  }
}

async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), digest)
  return digest.digest('hex')
}

/** Flushes a file or a folder to disk. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
