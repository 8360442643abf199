import { closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreUnavailable } from './store-unavailable.ts'

/**
 * Creates the file and its folder where they are missing, for this user alone: messages, device tokens and keys of browsers are in
 * it. SQLite gives the file's mode to its -wal and -shm. What is there already keeps its mode; `bellwire doctor` looks at it.
 */
export function createSqliteFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    // Never a file that is there: closing it would give up the locks that this process may hold on it.
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

// Primary result codes: https://sqlite.org/rescode.html
const busy = 5
const readOnly = 8
const cannotOpen = 14
const noDatabase = 26

/** The primary result code of SQLite, 0 for an error of anybody else. */
export const resultCode = (error: unknown): number => ((error as { errcode?: number }).errcode ?? 0) & 0xff

/** Why a file could not be opened, and what to do. What is not known here comes back as it is. */
export function toOpenError(path: string, error: unknown): unknown {
  const why = reasonOf(path, error as NodeJS.ErrnoException)
  return why === undefined ? error : new StoreUnavailable(`${path} ${why}`, { cause: error })
}

function reasonOf(path: string, error: NodeJS.ErrnoException): string | undefined {
  const code = resultCode(error)
  if (code === busy)
    return 'is open in another process. A SQLite file serves one process: stop that one, send this command to its HTTP API, or use PostgreSQL (store: postgres://…)'
  if (code === noDatabase) return 'is not a SQLite database: name another file, or move this one away'
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return 'is a folder: name a file in it'
  if (code === readOnly || code === cannotOpen || error.syscall !== undefined)
    return `cannot be opened for writing (${error.message}): give it and its folder to the user who runs this, or name another file`
  return undefined
}
