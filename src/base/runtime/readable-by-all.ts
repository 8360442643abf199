import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Whether every user of this machine can read the file: its mode and all folders above it permit it. False on Windows. */
export async function readableByAll(file: string): Promise<boolean> {
  if (process.platform === 'win32' || !(await allows(file, 0o004))) return false
  for (let path = resolve(file); path !== dirname(path); path = dirname(path))
    if (!(await allows(dirname(path), 0o001))) return false
  return true
}

async function allows(path: string, bit: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && (found.mode & bit) !== 0
}
