// `bellwire check` on a terminal: it asks for the missing preparations, and before it sends.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { key, startPlainOperator, users } from '../checker/plain-operator.ts'
import { freePort } from '../support/free-port.ts'
import { adminKey, post, startPlatform, temporary } from '../support/sides.ts'
import { bellwire, type Run, startProgram } from './bellwire.ts'

const python = ['python3', 'python'].find(
  (name) => spawnSync(name, ['-c', 'import os, pty; os.waitstatus_to_exitcode']).status === 0,
)
const skip = python ? false : 'no Python 3.9'

/** @param answers each question, and the answer of the person */
function onTerminal(
  t: TestContext,
  args: readonly string[],
  answers: readonly (readonly [string, string])[],
  env: NodeJS.ProcessEnv,
): Promise<Run> {
  const command = [...bellwire, ...args]
  const terminal = join(import.meta.dirname, 'terminal.py')
  return startProgram(t, [python as string, terminal, JSON.stringify(answers), ...command], env).ended
}

test('on a terminal, check operator asks for the users, and sends only after a yes', { skip }, async (t) => {
  let messages = 0
  const operator = await startPlainOperator({
    onSocket: (incoming) => void (incoming.url?.startsWith('/channels') && messages++),
  })
  t.after(operator.stop)
  const check = (last: string): Promise<Run> =>
    onTerminal(
      t,
      ['check', 'operator', '--url', operator.url, '--only', 'single'],
      [
        ['who can receive messages on all channels: ', users.normal],
        ['who is blocked (Enter: none): ', users.blocked],
        ['without a device (Enter: none): ', ''],
        ['Send them? [y/N] ', last],
      ],
      { BELLWIRE_KEY: key },
    )
  const refused = await check('')
  assert.equal(refused.code, 2)
  assert.match(refused.out, /nothing was sent/)
  const probes = messages
  const { code, out } = await check('y')
  assert.equal(code, 0, out)
  assert.match(out, /only to the users user-1, user-2 \(blocked\), brand 1/)
  assert.match(out, /required rules that were checked are kept/)
  assert.ok(messages > 2 * probes, 'messages were sent')
})

test('on a terminal, check platform asks the person to enqueue each file, and to restart', { skip }, async (t) => {
  const port = await freePort()
  const folder = await temporary(t)
  const provider = operatorApi({ url: `http://127.0.0.1:${port}`, apiKey: key })
  const { url } = await startPlatform(t, {
    lanes: [{ brand: '1', channel: 'push', mode: 'batch', spanMs: 20, retry: { firstMs: 20, mostMs: 50 }, provider }],
  })
  // The person enqueues each file before the answer.
  const enqueued = new Set<string>()
  const person = setInterval(async () => {
    // The folder is deleted when the test ends.
    for (const file of await readdir(folder).catch(() => [])) {
      const records = await readFile(join(folder, file), 'utf8').catch(() => '')
      // The command may not have written it completely.
      if (enqueued.has(file) || !records.endsWith('\n')) continue
      enqueued.add(file)
      await post(`${url}/admin/activities/push`, records, adminKey.key, { 'content-type': 'application/x-ndjson' })
    }
  }, 20)
  t.after(() => clearInterval(person))
  const { code, out } = await onTerminal(
    t,
    [
      ...['check', 'platform', '--port', String(port), '--features', 'push.batch', '--only', 'restart'],
      ...['--ask-restart', '--folder', folder, '--patience', '10s', '--quiet', '100ms'],
    ],
    [
      ['press Enter: ', ''],
      ['as push notifications, and press Enter: ', ''],
      ['as push notifications, and press Enter: ', ''],
      ['as push notifications, and press Enter: ', ''],
      ['Restart the platform now, and press Enter when it is starting: ', ''],
    ],
    { BELLWIRE_KEY: key },
  )
  assert.equal(code, 0, out)
  assert.equal(enqueued.size, 3)
})
