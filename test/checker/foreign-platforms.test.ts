// A platform that shares no code with Bellwire, in Python; and one with ten faults at once, which the report must name.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import test from 'node:test'
import { openPlatformRun } from '../../src/tools/checker/platform/prepare.ts'
import { type Started, startProgram } from '../cli/bellwire.ts'
import { freePort } from '../support/free-port.ts'
import { temporary } from '../support/sides.ts'
import { failedChecks } from './check-plain.ts'
import { allPlatformChecks, checkPlainPlatform, platformFacts, platformPace } from './check-plain-platform.ts'
import { notPassed } from './judge-run.ts'
import { statusSecret } from './plain-endpoints.ts'
import type { Outcome } from './plain-platform.ts'

const python = ['python3', 'python'].find(
  (name) => spawnSync(name, ['-c', 'import sys; assert sys.version_info >= (3, 8)']).status === 0,
)

test('a platform in Python passes every check, also when it is killed', {
  skip: python ? false : 'no Python 3.8',
}, async (t) => {
  const control = `http://127.0.0.1:${await freePort()}`
  const opened = await openPlatformRun({
    host: '127.0.0.1',
    port: 0,
    key: 'key-of-the-python-platform',
    checks: allPlatformChecks,
    facts: {
      ...platformFacts,
      platformTimeout: 3_000,
      pace: { ...platformPace, patience: 20_000 },
      failedActions: async () => (await fetch(`${control}/failed`)).text(),
      platform: { url: control, linkKey: 'key-for-links-of-python', statusSecret },
      devices: async (userId) => (await fetch(`${control}/devices/${userId}`)).text(),
      restart: async () => {
        started.child.kill('SIGKILL')
        await started.ended
        await startPython()
      },
      reconcile: async (field) => (await fetch(`${control}/reconcile/${field}`, { method: 'POST' })).ok,
    },
    rules: 'bellwire',
    mostMessages: 5_000,
    async enqueue({ channel, records }) {
      const body = records.map(({ text }) => text).join('\n')
      assert.equal((await fetch(`${control}/${channel}`, { method: 'POST', body })).status, 200)
    },
  })
  t.after(() => opened.close())
  const program = join(import.meta.dirname, 'foreign_platform.py')
  const queue = join(await temporary(t), 'queue.db')
  let started: Started
  async function startPython(): Promise<void> {
    started = startProgram(t, [python as string, program, new URL(control).port, opened.url, queue])
    await started.line(/^listening$/)
  }
  await startPython()
  const { results } = await (await opened.prepare()).run()
  assert.deepEqual(notPassed(results), [
    'link.header (push batch) skipped: no message-queue broker is named from which the platform consumes links of devices',
  ])
})

const all = (sent: readonly unknown[], outcome: Outcome): readonly Outcome[] => sent.map(() => outcome)

test('of a platform with ten faults the report names the ten, and nothing else', async () => {
  const outcome = await checkPlainPlatform((correct) => ({
    max: 12,
    headers: (n) => ({ ...correct.headers(n), 'content-type': 'text/plain' }),
    element: ({ text, attempts }) => {
      const sent = text.replace(',"action_group_id":990000002', '').replace('Žluťoučký', 'Zlutoucky')
      return attempts > 1 ? sent.replace(/\}$/, `,"attempt":${attempts}}`) : sent
    },
    outcomes({ status = 0, text, ...rest }, sent, mode) {
      if (mode === 'single' && status === 429) return all(sent, 'retry')
      if (mode === 'batch' && status === 202) return all(sent, 'successful')
      if (mode === 'batch' && status === 400) return all(sent, 'failed')
      if (mode === 'batch' && status === 200 && text.includes('"note"')) return all(sent, 'retry')
      return correct.outcomes({ ...rest, text, ...(status !== 0 && { status }) }, sent, mode)
    },
    usesList: (text, isComplete) => isComplete && text.endsWith('}'),
  }))
  assert.deepEqual(
    [...failedChecks(outcome)].toSorted(),
    [
      'answer.unknown',
      'batch.2xx',
      'batch.4xx',
      'batch.maximum',
      'list.error',
      'record.content',
      'record.members',
      'repeat.same',
      'request.content-type',
      'single.4xx',
    ].toSorted(),
  )
})
