// The list of erasures of `bellwire person erasures`: a file outside of the store, one erasure per line.

import { readFile } from 'node:fs/promises'
import type { ListedErasure } from '../../base/people/erasures.ts'
import { CliError, exit } from './exit.ts'

type Line = ListedErasure & { readonly side: string }

/**
 * @param option the option that names the file
 * @throws CliError if the file is not a list of erasures
 */
export async function readErasureList(file: string, option: string): Promise<readonly Line[]> {
  try {
    return parseErasureList(await readFile(file, 'utf8'))
  } catch (error) {
    const why = (error as Error).message
    throw new CliError(exit.usage, `${option} ${file} is no list of \`bellwire person erasures\`: ${why}`)
  }
}

export function parseErasureList(text: string): readonly Line[] {
  const lines = text.split('\n').filter((line) => line !== '')
  const listed = lines.map((line) => JSON.parse(line) as Line)
  for (const [i, line] of listed.entries())
    for (const member of ['side', 'id', 'brand', 'digest', 'secret'] as const)
      if (typeof line?.[member] !== 'string') throw new Error(`line ${i + 1} has no ${member}`)
  return listed
}

/**
 * Adds the erasures of the stores to those of a file. An erasure that is only in the file stays: a store that was restored from an
 * older backup does not have it.
 *
 * @throws Error if a brand of the file has another secret: the file is of another store
 */
export function mergeErasures(kept: readonly Line[], listed: readonly Line[]): readonly Line[] {
  const secrets = new Map(listed.map(({ side, brand, secret }) => [`${side} ${brand}`, secret]))
  for (const { side, brand, secret } of kept)
    if ((secrets.get(`${side} ${brand}`) ?? secret) !== secret)
      throw new Error(`it is the list of another store: brand ${brand} of the ${side} has another secret`)
  const ids = new Set(listed.map(({ id }) => id))
  return [...kept.filter(({ id }) => !ids.has(id)), ...listed]
}
