// The README's words, word for word: its curl lines against the operator of the example configuration.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { temporary } from './support/sides.ts'

const root = join(import.meta.dirname, '..')

/** The commands of the README's shell blocks that begin with curl, each with all of its lines. */
async function curls(): Promise<string[]> {
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block as string)
  return blocks.flatMap((block) =>
    block
      .replaceAll(/^#.*$/gm, '')
      .split(/^(?=curl )/m)
      .filter((command) => command.startsWith('curl ')),
  )
}

test('the curl lines of the README do what it says', async (t) => {
  const folder = await temporary(t)
  for (const file of ['bellwire.yaml', 'users.csv']) await copyFile(join(root, 'examples', file), join(folder, file))
  const child = spawn(
    process.execPath,
    [join(root, 'bin/bellwire.cjs'), 'operator', '--config', join(folder, 'bellwire.yaml')],
    {
      env: { ...process.env, BELLWIRE_OPERATOR_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  t.after(async () => {
    if (child.kill('SIGTERM')) await once(child, 'exit')
  })
  let said = ''
  for await (const chunk of child.stdout) {
    said += String(chunk)
    if (/http:\/\/127\.0\.0\.1:\d+/.test(said)) break
  }
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] as string

  const commands = await curls()
  assert.equal(commands.length, 3)
  const answers: unknown[] = []
  for (const command of [commands[0] as string, ...commands]) {
    const { stdout } = await promisify(execFile)('sh', ['-c', command.replaceAll('http://127.0.0.1:7001', url)], {
      timeout: 20_000,
    })
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
