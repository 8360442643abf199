import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { warns } from '../../../base/runtime/check.ts'
import { readableByAll } from '../../../base/runtime/readable-by-all.ts'
import { secretFilesOf } from '../../../sides/config/environment.ts'
import { leavesOf } from '../../../sides/config/leaves.ts'
import { configFile } from '../../../sides/config/load.ts'
import { secretsOf } from '../../../sides/config/print.ts'
import { filesOf } from '../../../sides/config/substitute-variables.ts'
import { type Config, table } from '../../../sides/config/table.ts'
import type { Part } from './part.ts'

/** Warns of each file with a secret that all users of this machine can read. */
export function secretFiles(file: string | undefined, config: Config, env: NodeJS.ProcessEnv): Part {
  return {
    setting: 'configuration',
    async check() {
      const files = [
        ...secretFilesOf(table, env),
        ...leavesOf(table, config).flatMap(({ leaf, value }) => (leaf.secretFile ? [String(value)] : [])),
      ]
      const main = configFile(file, env)
      const text = await readFile(main, 'utf8').catch(() => '')
      files.push(...filesOf(text, dirname(main)))
      if (secretsOf(config).some((secret) => text.includes(secret))) files.unshift(main)
      const exposed: string[] = []
      for (const path of new Set(files)) if (await readableByAll(path)) exposed.push(path)
      return exposed.map((path) =>
        warns(
          `every user of this machine may read ${path}, which contains secrets`,
          `chmod 600 ${path}, and make the user who runs Bellwire its owner`,
        ),
      )
    },
  }
}
