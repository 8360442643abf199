import type { Problem } from './problem.ts'
import type { Config } from './table.ts'

/** What each setting alone cannot show: names and keys that are there twice, and settings that contradict each other. */
export function agree(config: Config, where: string, problems: Problem[]): void {
  const { operator, platform } = config
  const twice = (path: string, what: string, values: readonly string[], remedy: string): void => {
    const again = values.findIndex((value, i) => values.indexOf(value) < i)
    if (again >= 0) problems.push({ path: `${path}[${again}]`, where, what, remedy })
  }
  for (const [path, keys] of [
    ['operator.keys', operator?.keys ?? []],
    ['operator.admin_keys', operator?.admin_keys ?? []],
    ['platform.keys', platform?.keys ?? []],
  ] as const) {
    twice(
      path,
      'this name is taken',
      keys.map(({ name }) => name),
      'give each key a name of its own',
    )
    twice(
      path,
      'this key is there twice',
      keys.map(({ key }) => key),
      'make another with: openssl rand -hex 24',
    )
  }
  const lanes = platform?.lanes ?? []
  twice(
    'platform.lanes',
    'this brand and channel has a lane already',
    lanes.map((lane) => `${lane.brand}/${lane.channel}`),
    'keep one lane for each brand and channel',
  )
  for (const [i, { retry }] of lanes.entries()) {
    if (retry.first > retry.most)
      problems.push({
        path: `platform.lanes[${i}].retry`,
        where,
        what: 'first is longer than most',
        remedy: 'first is the shortest wait, most the longest',
      })
  }
  if (operator && operator.store === platform?.store)
    problems.push({
      path: 'platform.store',
      where,
      what: "is the operator's store",
      remedy: 'give each side a store of its own',
    })
  if (operator && operator.port === platform?.port && operator.port !== 0 && operator.host === platform.host)
    problems.push({
      path: 'platform.port',
      where,
      what: "is the operator's port",
      remedy: 'give each side a port of its own',
    })
}
