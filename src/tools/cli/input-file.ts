// The input file of a command.

import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { CliError, exit } from './exit.ts'

export interface InputFile {
  read(): AsyncIterable<Buffer>
  /** Undefined if it is not a regular file. */
  readonly bytes: number | undefined
  /** The time of the last change, in RFC 3339. Undefined for standard input. */
  readonly changed?: string
}

/** @param file `-` for standard input, which can be read once. @throws CliError if the file cannot be read */
export async function inputFile(file: string): Promise<InputFile> {
  if (file === '-') return { read: () => process.stdin, bytes: undefined }
  try {
    await (await open(file)).close()
    const stats = await stat(file)
    if (stats.isDirectory()) throw new Error('it is a folder')
    return {
      read: () => createReadStream(file, { highWaterMark: 1 << 20 }),
      bytes: stats.isFile() ? stats.size : undefined,
      changed: stats.mtime.toISOString(),
    }
  } catch (error) {
    throw new CliError(exit.usage, `${file} cannot be read: ${(error as Error).message}`)
  }
}
