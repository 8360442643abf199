import { open, stat } from 'node:fs/promises'
import { CliError, exit } from './exit.ts'

/** @returns undefined for what is no plain file. @throws CliError that says why it cannot be read */
export async function sizeOf(file: string): Promise<number | undefined> {
  try {
    await (await open(file)).close()
    const found = await stat(file)
    if (found.isDirectory()) throw new Error('it is a folder')
    return found.isFile() ? found.size : undefined
  } catch (error) {
    throw new CliError(exit.usage, `${file} cannot be read: ${(error as Error).message}`)
  }
}
