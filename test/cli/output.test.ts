import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import test, { type TestContext } from 'node:test'
import { phraseCount } from '../../src/base/runtime/phrase-count.ts'
import { createTextWriter, toJson } from '../../src/tools/cli/output.ts'
import { countTable, factLines, refusedLines, summaryLine, textTable } from '../../src/tools/cli/text-table.ts'
import { temporary } from '../support/sides.ts'
import { bellwire, environment } from './bellwire.ts'

const hostile = 'a\u001b[2Jé\u009b31m\u202e\r\nb'

async function write(isTTY: boolean, chunkBytes: number): Promise<string> {
  let written = ''
  const output = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      written += String(chunk)
      done()
    },
  })
  const writeText = createTextWriter(Object.assign(output, { isTTY }))
  const bytes = Buffer.from(hostile)
  for (let from = 0; from < bytes.length; from += chunkBytes) await writeText(bytes.subarray(from, from + chunkBytes))
  return written
}

test('a downloaded text is written to a terminal without its control characters, also if a character is cut', async () => {
  const escaped = 'a\\u001b[2Jé\\u009b31m\\u202e\r\nb'
  assert.equal(await write(true, 1_000), escaped)
  assert.equal(await write(true, 1), escaped)
})

test('to a file or a pipe, a downloaded text is written unchanged', async () => {
  assert.equal(await write(false, 1_000), hostile)
})

test('the JSON of a command has no control character and the same value', () => {
  assert.equal(toJson({ error: 'a\u009b31m\u001b' }), '{"error":"a\\u009b31m\\u001b"}')
  assert.deepEqual(JSON.parse(toJson([hostile])), [hostile])
})

test('one item is counted in the singular', () => {
  assert.deepEqual(
    [0, 1, 2, 12_345].map((count) => phraseCount(count, 'record')),
    ['0 records', '1 record', '2 records', '12,345 records'],
  )
})

test('tables, their notes and summaries show the control characters of other parties, which a terminal would execute', () => {
  const text = 'a\x1b[2Jb'
  const lines = [
    textTable([{ title: 'X' }], [[text]], [[text]]),
    countTable([{ title: 'X' }], ['sent'], [{ names: [text], counts: { sent: 1 } }]),
    factLines([['X', text]]).join('\n'),
    summaryLine('failed', 1, text),
    refusedLines(1, [{ line: 1, error: text }]).join('\n'),
  ]
  for (const line of lines) assert.ok(line.includes('a') && !line.includes('\x1b'), line)
})

// A pipe whose reader closes early: `bellwire … | head -1`.
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

test('a command whose output cannot be written fails with the reason, and without a stack', {
  skip: process.platform !== 'linux' && 'this system has no /dev/full',
}, async (t) => {
  const file = join(await temporary(t), 'bellwire.yaml')
  const key = '{name: platform, key: operator-key-000000000001, brands: [1]}'
  await writeFile(file, `operator: {port: 0, keys: [${key}], suppression: none, push: recording}`)
  const full = openSync('/dev/full', 'w')
  t.after(() => closeSync(full))
  const [program, ...options] = bellwire
  for (const args of [['--help'], ['doctor', '--config', file]]) {
    const { status, stderr } = spawnSync(program, [...options, ...args], {
      env: environment,
      stdio: ['ignore', full, 'pipe'],
    })
    assert.match(String(stderr), /^bellwire: the output cannot be written: ENOSPC[^\n]*\n$/)
    assert.equal(status, 1)
  }
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
