// A pipe whose reader closes early: `bellwire … | head -1`.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import test, { type TestContext } from 'node:test'
import { temporary } from '../support/sides.ts'
import { bellwire, environment } from './bellwire.ts'

test('the help exits with 0 and without an error if its reader closes the pipe', async (t) => {
  const child = piped(t, ['--help'])
  child.stdout?.destroy()
  assert.deepEqual(await endOf(child), { code: 0, err: '' })
})

test('the demo stops gracefully with 0 and leaves no files if its reader closes the pipe', async (t) => {
  const folder = await temporary(t)
  const child = piped(t, ['demo', '--port', '0'], { TMPDIR: folder })
  const ended = endOf(child)
  child.stdout?.once('data', () => child.stdout?.destroy())
  assert.deepEqual(await ended, { code: 0, err: '' })
  assert.deepEqual(await readdir(folder), [])
})

function piped(t: TestContext, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const [program, ...options] = bellwire
  const child = spawn(program, [...options, ...args], {
    env: { ...environment, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  t.after(() => child.kill('SIGKILL'))
  return child
}

function endOf(child: ChildProcess): Promise<{ code: number | null; err: string }> {
  let err = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
  return new Promise((resolve, reject) => child.on('error', reject).on('close', (code) => resolve({ code, err })))
}
