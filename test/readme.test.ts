// Runs the README's curl commands, unchanged, against the operator of the example configuration.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { addressesOf, freePorts, start } from './cli/bellwire.ts'
import { temporary } from './support/sides.ts'

const root = join(import.meta.dirname, '..')

/** The curl commands in the README's shell blocks, each with all of its lines. */
async function readCurlCommands(): Promise<string[]> {
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block as string)
  return blocks.flatMap((block) =>
    block
      .replaceAll(/^#.*$/gm, '')
      .split(/^(?=curl )/m)
      .filter((command) => command.startsWith('curl ')),
  )
}

test('the curl commands of the README give the results that it describes', async (t) => {
  const folder = await temporary(t)
  for (const file of ['bellwire.yaml', 'users.csv']) await copyFile(join(root, 'examples', file), join(folder, file))
  const { url, admin } = await addressesOf(start(t, ['operator', '--config', join(folder, 'bellwire.yaml')], freePorts))

  const commands = await readCurlCommands()
  assert.equal(commands.length, 3)
  const answers: unknown[] = []
  for (const command of [commands[0] as string, ...commands]) {
    const here = command.replaceAll('http://127.0.0.1:7001', url).replaceAll('http://127.0.0.1:7101', admin)
    const { stdout } = await promisify(execFile)('sh', ['-c', here], { timeout: 20_000 })
    answers.push(JSON.parse(stdout))
  }
  const [first, again, batch, summary] = answers as [
    { push_id: string },
    { push_id: string },
    { successful: unknown[]; failed: { id: number }[]; fatal: unknown[] },
    Record<string, unknown>,
  ]
  assert.match(first.push_id, /^[0-9a-f-]{36}$/)
  assert.equal(again.push_id, first.push_id)
  assert.deepEqual([batch.successful.length, batch.failed.map((item) => item.id), batch.fatal.length], [1, [-2, 3], 0])
  assert.deepEqual(
    ['successful', 'failed', 'fatal', 'in_flight', 'uncertain', 'repeated'].map((name) => summary[name]),
    [2, 1, 0, 0, 0, 0],
  )
})
