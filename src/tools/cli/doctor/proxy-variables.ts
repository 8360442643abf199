import { warns } from '../../../base/runtime/check.ts'
import { leavesOf } from '../../../sides/config/leaves.ts'
import { type Config, table } from '../../../sides/config/table.ts'
import type { Part } from './part.ts'

const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy']

/** Warns if the environment names a proxy and no address of the configuration has one: the variables have no effect. */
export function proxyVariables(config: Config, env: NodeJS.ProcessEnv): Part {
  return {
    setting: 'configuration',
    async check() {
      const found = names.find((name) => env[name])
      if (found === undefined || leavesOf(table, config).some(({ path }) => path.endsWith('.proxy'))) return []
      return [
        warns(
          `${found} is set and has no effect: all connections are direct`,
          'write proxy: … beside each address that is called through a proxy, or unset the variable',
        ),
      ]
    },
  }
}
