import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cached } from './cache.ts'
import { run } from './program.ts'
import type { Service } from './service.ts'

/**
 * Another version of Node.js than the one that runs the tests, from its npm package. The address is the path of the program.
 *
 * @example await addressOf(nodeVersion('22.19.0'))
 */
export function nodeVersion(version: string): Service<object> {
  const variable = `BELLWIRE_TEST_NODE_${version.split('.')[0]}`
  return {
    name: `Node ${version}`,
    variable,
    proves: `the published package on Node ${version}`,
    command: `npm test, on a machine that can reach the npm registry, or ${variable}=/path/to/node npm test`,
    start: async () => ({
      address: join(
        await cached(`node-${version}`, (folder) => install(version, folder)),
        'node_modules/node/bin/node',
      ),
      stop: async () => {},
    }),
  }
}

/** Installs the npm package, whose install script downloads the program for this platform. */
async function install(version: string, folder: string): Promise<void> {
  const project = { private: true, dependencies: { node: version }, allowScripts: { node: true } }
  await writeFile(join(folder, 'package.json'), JSON.stringify(project))
  await run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'], { cwd: folder })
}
