import { readFile } from 'node:fs/promises'
import { secretFilesOf } from '../../config/environment.ts'
import { leavesOf } from '../../config/leaves.ts'
import { configFile } from '../../config/load.ts'
import { secretsOf } from '../../config/print.ts'
import { type Config, table } from '../../config/table.ts'
import { readableByAll } from '../../runtime/readable-by-all.ts'
import type { Part } from './part.ts'

/** Warns of each file with a secret in it that every user of the machine may read. */
export function secretFiles(file: string | undefined, config: Config, env: NodeJS.ProcessEnv): Part {
  return {
    setting: 'configuration',
    async look() {
      const files = [
        ...secretFilesOf(table, env),
        ...leavesOf(table, config).flatMap(({ leaf, value }) => (leaf.secretFile ? [String(value)] : [])),
      ]
      const main = configFile(file, env)
      if (await holdsAny(main, secretsOf(config))) files.unshift(main)
      const open: string[] = []
      for (const each of new Set(files)) if (await readableByAll(each)) open.push(each)
      return open.map((each) => ({
        ok: true,
        warning: true,
        what: `every user of this machine may read ${each}, which holds secrets`,
        remedy: `chmod 600 ${each}, and give it to the user who runs Bellwire`,
      }))
    },
  }
}

async function holdsAny(file: string, secrets: readonly string[]): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return secrets.some((secret) => text.includes(secret))
}
