// Reads files named by settings. An error names the setting.

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileRemedy } from '../../file-remedy.ts'
import { ConfigError } from '../../problem.ts'

export function refuse(path: string, description: string, remedy?: string): never {
  throw new ConfigError([{ path, where: '', description, ...(remedy !== undefined && { remedy }) }])
}

interface FileOrText<Value> {
  readonly file: string | undefined
  readonly text: string | undefined
  /** The paths of the two settings. */
  readonly filePath: string
  readonly textPath: string
  readonly remedy: string
  /** Throws why the text cannot be used. */
  readonly parse: (text: string) => Value
}

/** The value in one of two settings: in a file, or in the text itself. Exactly one of them must be set. */
export async function fileOrText<Value>(settings: FileOrText<Value>): Promise<Value> {
  const { file, text, filePath, textPath, remedy, parse } = settings
  if ((file === undefined) === (text === undefined))
    refuse(
      filePath,
      file === undefined ? `set either this or ${textPath}` : `set only one of this and ${textPath}`,
      remedy,
    )
  const given = text ?? (await readText(file as string, filePath, remedy))
  try {
    return parse(given)
  } catch (error) {
    return refuse(text === undefined ? filePath : textPath, (error as Error).message)
  }
}

export async function readText(file: string, path: string, remedy: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    return refuseFile(file, error, path, remedy)
  }
}

/** @param error of reading the file @param remedy of a file that does not exist */
export function refuseFile(file: string, error: unknown, path: string, remedy: string): never {
  const { code = '', message } = error as NodeJS.ErrnoException
  refuse(
    path,
    code === 'ENOENT' ? `the file ${file} does not exist` : `the file ${file} cannot be read (${code || message})`,
    fileRemedy(error, remedy),
  )
}

/** The option `ca`, if the settings have it. */
export async function caOption({ ca: file }: { readonly ca?: string }, path: string): Promise<{ ca?: string }> {
  const ca = await readCa(file, `${path}.ca`)
  return ca === undefined ? {} : { ca }
}

/** Reads one or more certificates in PEM. */
export async function readCa(file: string | undefined, path: string): Promise<string | undefined> {
  if (file === undefined) return undefined
  const remedy = 'write the path of a PEM file with certificates, or remove this setting'
  const text = await readText(file, path, remedy)
  try {
    new X509Certificate(text)
  } catch {
    refuse(path, `the file ${file} contains no PEM certificate`, remedy)
  }
  return text
}
