// The files that settings name: read, or refused by the setting's name.

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { ConfigError } from '../../config/problem.ts'

export function refuse(path: string, what: string, remedy?: string): never {
  throw new ConfigError([{ path, where: '', what, ...(remedy !== undefined && { remedy }) }])
}

export interface FileOrText {
  readonly file: string | undefined
  readonly text: string | undefined
  /** Where the two stand in the configuration. */
  readonly filePath: string
  readonly textPath: string
  readonly remedy: string
}

/** The text of what is set by one of two settings, and where it came from. */
export async function fileOrText({
  file,
  text,
  filePath,
  textPath,
  remedy,
}: FileOrText): Promise<{ text: string; path: string }> {
  if ((file === undefined) === (text === undefined))
    refuse(
      filePath,
      file === undefined ? `neither it nor ${textPath} is set` : `both it and ${textPath} are set`,
      remedy,
    )
  if (text !== undefined) return { text, path: textPath }
  return { text: await readText(file as string, filePath, remedy), path: filePath }
}

export async function readText(file: string, path: string, remedy: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    return refuse(
      path,
      code === 'ENOENT' ? `there is no file ${file}` : `the file ${file} cannot be read (${code || message})`,
      remedy,
    )
  }
}

/** Certificates in PEM, several if need be. */
export async function readCa(file: string | undefined, path: string): Promise<string | undefined> {
  if (file === undefined) return undefined
  const remedy = 'write the path of a file with certificates in PEM, or leave it out'
  const text = await readText(file, path, remedy)
  try {
    new X509Certificate(text)
  } catch {
    refuse(path, `the file ${file} has no certificate in PEM`, remedy)
  }
  return text
}
