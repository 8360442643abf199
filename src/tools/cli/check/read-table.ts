// Reads the file of `bellwire check … --file`.

import { readFile } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import type { Group, Settings, ValueOf } from '../../../base/runtime/setting.ts'
import { check } from '../../../sides/config/check.ts'
import { ConfigError, type Problem } from '../../../sides/config/problem.ts'
import { readYaml } from '../../../sides/config/read-yaml.ts'
import { refuseWith } from '../exit.ts'

/** A setting that is a map with any names. */
export interface MapOf<Preparation> {
  readonly name: keyof Preparation & string
  readonly fits: (value: unknown) => boolean
  readonly expected: string
  readonly example: string
}

export const messageMembers = {
  name: 'message',
  fits: () => true,
  expected: 'the members of a message',
  example: 'title: Hello',
} as const

export const agreements = {
  name: 'agreed',
  fits: (value: unknown) => typeof value === 'string',
  expected: 'texts by name',
  example: 'Rate limit: 100 messages a second',
} as const

/**
 * @param file undefined: all settings have their defaults
 * @throws CliError if the file cannot be read, ConfigError with all its problems
 */
export async function readTable<Table extends Group<Settings>>(
  table: Table,
  file: string | undefined,
  maps: readonly MapOf<ValueOf<Table>>[],
): Promise<ValueOf<Table>> {
  if (file === undefined) return check(table, undefined, '', [])
  const source = await readFile(file, 'utf8').catch(refuseWith('--file cannot be read'))
  const problems: Problem[] = []
  const where = basename(file)
  const raw = readYaml(source, where, dirname(resolve(file)), problems, { env: process.env })
  if (problems.length > 0) throw new ConfigError(problems)
  const preparation = check(table, raw, '', problems)
  for (const { name, fits, expected, example } of maps) {
    const value: unknown = preparation[name]
    if (value === undefined || isMapOf(value, fits)) continue
    problems.push({ path: name, where, description: `expected ${expected}`, remedy: `for example ${example}` })
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return preparation
}

const isMapOf = (value: unknown, fits: (value: unknown) => boolean): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(fits)
