import { open, stat } from 'node:fs/promises'
import { CliError, exit } from './exit.ts'

/** @returns the size; undefined if it is not a regular file. @throws CliError if the file cannot be read */
export async function sizeOf(file: string): Promise<number | undefined> {
  try {
    await (await open(file)).close()
    const stats = await stat(file)
    if (stats.isDirectory()) throw new Error('it is a folder')
    return stats.isFile() ? stats.size : undefined
  } catch (error) {
    throw new CliError(exit.usage, `${file} cannot be read: ${(error as Error).message}`)
  }
}
