import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { loadConfig } from '../../src/sides/config/load.ts'
import { ConfigError, type Problem } from '../../src/sides/config/problem.ts'
import type { Config } from '../../src/sides/config/table.ts'
import { temporary } from '../support/sides.ts'

/** Loads a configuration file with this text. */
export async function loadText(t: TestContext, text: string, env: NodeJS.ProcessEnv = {}): Promise<Config> {
  const file = join(await temporary(t), 'bellwire.yaml')
  await writeFile(file, text)
  return loadConfig(file, env)
}

/** The problems of a text; none if it is accepted. */
export async function problemsOf(
  t: TestContext,
  text: string,
  env: NodeJS.ProcessEnv = {},
): Promise<readonly Problem[]> {
  try {
    await loadText(t, text, env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems
  }
}

/** The problems with which a text is refused. */
export async function refused(t: TestContext, text: string, env: NodeJS.ProcessEnv = {}): Promise<readonly Problem[]> {
  const problems = await problemsOf(t, text, env)
  assert.ok(problems.length > 0, 'it was accepted')
  return problems
}
