import { closeSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../runtime/make-folder.ts'
import { StoreUnavailable } from './store-unavailable.ts'

/**
 * Creates the file and its folder if they are missing, accessible only to this user: the file contains messages, device tokens
 * and browser keys. SQLite gives its mode to -wal and -shm. An existing file keeps its mode; `bellwire doctor` checks it.
 */
export function createSqliteFile(path: string): void {
  makeFolder(dirname(path), 0o700)
  try {
    // `wx` opens no existing file: closing it would release the locks that this process may hold on it.
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

// Primary result codes: https://sqlite.org/rescode.html
const busy = 5
const readOnly = 8
const ioError = 10
const corrupt = 11
const full = 13
const cannotOpen = 14
const noDatabase = 26

/** The primary result code of a SQLite error; 0 for any other error. */
export const resultCode = (error: unknown): number => ((error as { errcode?: number }).errcode ?? 0) & 0xff

export const isCorrupt = (error: unknown): boolean => resultCode(error) === corrupt

/** Converts the error of opening a file into one with a reason and a remedy. An unknown error is returned unchanged. */
export function toOpenError(path: string, error: unknown): unknown {
  const explained = explainOpenError(path, error)
  return explained ? new StoreUnavailable(`${path} ${explained.join(': ')}`, { cause: error }) : error
}

/** Undefined: an unknown error. */
export function explainOpenError(path: string, error: unknown): readonly [reason: string, remedy: string] | undefined {
  const code = resultCode(error)
  const { message, syscall } = error as NodeJS.ErrnoException
  if (code === busy)
    return [
      'is open in another process. A SQLite file serves one process',
      'stop the other process, send this command to its HTTP API, or use PostgreSQL (store: postgres://…)',
    ]
  if (code === corrupt)
    return [
      `is damaged (${message})`,
      'restore a backup with `bellwire restore`, or move the file away to begin with an empty store',
    ]
  if (code === noDatabase) return ['is not a SQLite database', 'name another file, or move this one away']
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return ['is a folder', 'name a file in it']
  if (code === ioError || code === full) return [`cannot be opened (${message})`, 'check that its disk has space']
  if (code === readOnly || code === cannotOpen || syscall !== undefined)
    return [
      `cannot be opened for writing (${message})`,
      'make the user who runs this command the owner of the file and its folder, or name another file',
    ]
  return undefined
}
