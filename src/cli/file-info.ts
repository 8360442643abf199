import { open, stat } from 'node:fs/promises'
import { CliError, exit } from './exit.ts'

export interface FileInfo {
  /** Undefined if it is not a regular file. */
  readonly bytes: number | undefined
  /** The time of the last change, in RFC 3339. */
  readonly changed: string
}

/** @throws CliError if the file cannot be read */
export async function fileInfo(file: string): Promise<FileInfo> {
  try {
    await (await open(file)).close()
    const stats = await stat(file)
    if (stats.isDirectory()) throw new Error('it is a folder')
    return { bytes: stats.isFile() ? stats.size : undefined, changed: stats.mtime.toISOString() }
  } catch (error) {
    throw new CliError(exit.usage, `${file} cannot be read: ${(error as Error).message}`)
  }
}
