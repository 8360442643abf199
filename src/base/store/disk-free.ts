import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Bytes that this user can still write to the disk of a SQLite file. Undefined: the store is in memory, or PostgreSQL. */
export async function readDiskFree(url: string): Promise<number | undefined> {
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : ':memory:'
  if (path === ':memory:') return undefined
  return freeBytesOf(dirname(resolve(path)))
}

export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
