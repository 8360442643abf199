// The lanes of the store, checked together with the configuration. A lane of the store comes from a call, so it names no file of this
// machine: its texts are literal, without `${file:…}`, and a setting that is a path is refused before any file is read.

import { isPath } from '../../base/runtime/kinds.ts'
import { leavesOf } from './leaves.ts'
import { type ReadConfig, validate } from './load.ts'
import { ConfigError, type Problem } from './problem.ts'
import { placeOf, type Raw } from './raw.ts'
import { readYaml } from './read-yaml.ts'
import { type Config, table } from './table.ts'

/**
 * Adds the lanes of the store behind the lanes of the configuration.
 *
 * @param lanes JSON: the settings of each
 * @throws ConfigError with all problems at once
 */
export async function withStoredLanes(read: ReadConfig, lanes: readonly string[]): Promise<ReadConfig> {
  const first = read.config.platform?.lanes.length ?? 0
  if (lanes.length === 0) return read
  const problems: Problem[] = []
  const items = lanes.map((lane) => readYaml(lane, 'store', process.cwd(), problems, { lines: false }))
  // A profile is read before the settings are checked.
  for (const [i, item] of items.entries())
    if (item.type === 'map' && item.entries.has('profile')) problems.push(namesFile(`${laneAt(first + i)}.profile`))
  if (problems.length > 0) throw new ConfigError(problems)
  return validate(appendLanes(read.raw, items), problems, (config) => storedLaneProblems(config, read.raw, first))
}

function appendLanes(raw: Raw, items: readonly Raw[]): Raw {
  const platform = raw.type === 'map' ? raw.entries.get('platform') : undefined
  if (raw.type !== 'map' || platform?.value.type !== 'map') throw new Error('the configuration has no section platform')
  const lanes = platform.value.entries.get('lanes')
  const own = lanes?.value.type === 'list' ? lanes.value.items : []
  const { origin } = lanes ?? platform
  const value: Raw = { type: 'list', items: [...own, ...items], origin }
  const section: Raw = { ...platform.value, entries: new Map(platform.value.entries).set('lanes', { origin, value }) }
  return { ...raw, entries: new Map(raw.entries).set('platform', { ...platform, value: section }) }
}

/** A lane of the store is not in the configuration too, and names no file. */
function storedLaneProblems(config: Config, raw: Raw, first: number): readonly Problem[] {
  const lanes = config.platform?.lanes ?? []
  const names = lanes.map(({ brand, channel }) => `${brand}/${channel}`)
  const twice = names.slice(first).flatMap((name, i): Problem[] => {
    const other = names.indexOf(name)
    if (other >= first) return []
    return [
      {
        path: laneAt(first + i),
        where: 'store',
        description: `the lane ${name} is in the store, and also at ${placeOf(raw, laneAt(other))}, ${laneAt(other)}`,
        remedy: `keep it in one place: remove it from the configuration, or from the store: bellwire lanes remove ${name}`,
      },
    ]
  })
  const files = leavesOf(table, config).filter(
    ({ path, leaf }) => isPath(leaf) && Number(/^platform\.lanes\[(\d+)\]/.exec(path)?.[1] ?? -1) >= first,
  )
  return [...twice, ...files.map(({ path }) => namesFile(path))]
}

const laneAt = (index: number): string => `platform.lanes[${index}]`

const namesFile = (path: string): Problem => ({
  path,
  where: 'store',
  description: 'a lane of the store names no file',
  remedy: 'write this lane into the configuration',
})
