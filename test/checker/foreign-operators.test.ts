// Operators that share no code with Bellwire: one in Python, over a restart; one with ten faults at once; one behind TLS.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createServer } from 'node:https'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { CouldNotRun } from '../../src/tools/checker/preflight.ts'
import { prepareRun } from '../../src/tools/checker/run.ts'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { startProgram } from '../cli/bellwire.ts'
import { freePort } from '../support/free-port.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { temporary } from '../support/sides.ts'
import { allChecks, checkPlain, facts, failedChecks, longDeliveryMs, onePushChannel, pace } from './check-plain.ts'
import { notPassed } from './judge-run.ts'
import { mutants } from './mutants.ts'
import type { Mutation, Rules, Wrap } from './plain-operator.ts'

const python = ['python3', 'python'].find(
  (name) => spawnSync(name, ['-c', 'import sys; assert sys.version_info >= (3, 8)']).status === 0,
)

async function startPython(t: TestContext, fault = ''): Promise<{ url: string; restart: () => Promise<void> }> {
  const port = String(await freePort())
  const database = join(await temporary(t), 'operator.db')
  const start = async () => {
    const started = startProgram(t, [
      python as string,
      join(import.meta.dirname, 'foreign_operator.py'),
      port,
      database,
      fault,
    ])
    await started.line(/^listening$/)
    return started
  }
  let running = await start()
  return {
    url: `http://127.0.0.1:${port}`,
    restart: async () => {
      running.child.kill('SIGKILL')
      await running.ended
      running = await start()
    },
  }
}

test('an operator in Python passes every check, also over a kill', {
  skip: python ? false : 'no Python 3.8',
}, async (t) => {
  const { url, restart } = await startPython(t)
  const { failingField: _, ...known } = facts
  const prepared = await prepareRun({
    url,
    key: 'key-of-the-python-operator',
    checks: allChecks,
    facts: { ...known, pace: { ...pace, timeout: 20_000, patience: 5_000, retryPause: 100 }, restart },
    rules: 'bellwire',
    mostMessages: 5_000,
  })
  const { results } = await prepared.run()
  assert.deepEqual(notPassed(results), [
    'reconciliation.error (reconciliation) skipped: no field is named whose list fails while it is streamed',
  ])
})

/** The rules that each fault of foreign_operator.py violates. */
const rulesOfFaults = {
  early: ['http.keep-alive'],
  crash: ['malformed.final', 'reconciliation.unreadable'],
  http10: [],
  html: [
    'malformed.error',
    'blocked.error',
    'batch.error',
    'http.compressed',
    'http.path',
    'reconciliation.not-implemented',
    'reconciliation.unreadable',
    'auth.error',
    'auth.status',
  ],
  floats: ['batch.id', 'bad-item.form', 'ids.digits'],
}

for (const [fault, rules] of Object.entries(rulesOfFaults))
  test(`an operator in Python with the fault ${fault} violates exactly: ${rules.join() || 'nothing'}`, {
    skip: python ? false : 'no Python 3.8',
  }, async (t) => {
    const { url, restart } = await startPython(t, fault)
    const { failingField: _, ...known } = facts
    const prepared = await prepareRun({
      url,
      key: 'key-of-the-python-operator',
      checks: allChecks,
      facts: { ...known, pace: { ...pace, timeout: 20_000, patience: 5_000, retryPause: 100 }, restart },
      rules: 'bellwire',
      features: onePushChannel,
      mostMessages: 5_000,
    })
    const outcome = await prepared.run()
    for (const { check, target, status, seen } of outcome.results)
      if (status === 'failed') t.diagnostic(`${check.id} (${target.name}): ${seen}`)
    assert.deepEqual([...failedChecks(outcome)].toSorted(), rules.toSorted())
  })

/** Ten faults that a real operator might have at once. */
const ten = [
  'batch.id',
  'malformed.error',
  'blocked.batch',
  'bad-item.failed',
  'http.charset',
  'time.at-once',
  'reconciliation.timestamp',
  'auth.wrong-key',
  'restart.identifier',
  // Last: the faults before it change items of all categories.
  'batch.empty-categories',
]

/** Runs the checks with these faults. The report must name them, and nothing else. */
async function expectFound(faults: readonly string[]): Promise<void> {
  const chosen = faults.map((id) => mutants.find(({ check }) => check === id))
  const outcome = await checkPlain(
    { ...combine(chosen.map((mutant) => mutant?.mutate() ?? {})), deliveryMs: longDeliveryMs },
    { features: onePushChannel },
  )
  const related = chosen.flatMap((mutant) => mutant?.also ?? [])
  assert.deepEqual([...failedChecks(outcome)].toSorted(), [...faults, ...related].toSorted())
}

test('of ten faults at once, each is found, and nothing else', () => expectFound(ten))

test('when the faults are corrected one after another, the report names the others, and nothing else', async () => {
  await Promise.all(ten.map((_, corrected) => expectFound(ten.slice(corrected + 1))))
})

function combine(mutations: readonly Mutation[]): Mutation {
  const rules = (correct: Rules): Partial<Rules> => {
    const changed = { ...correct }
    for (const mutation of mutations) Object.assign(changed, mutation.rules?.({ ...changed }))
    return changed
  }
  const wrap: Wrap = (next, all, restarts) =>
    mutations.reduce((handler, mutation) => mutation.wrap?.(handler, all, restarts) ?? handler, next)
  return { rules, wrap }
}

test('a certificate that is not trusted is no finding about the operator', async (t) => {
  const { key, cert } = makeCertificate()
  const server = createServer({ key, cert }, (_, response) => response.end('{}'))
  const { port } = await listenLocally(t, server)
  const url = `https://127.0.0.1:${port}`
  await assert.rejects(
    prepareRun({
      url,
      key: 'any',
      checks: allChecks,
      facts: { ...facts, pace: { ...pace, patience: 100 } },
      rules: 'bellwire',
      mostMessages: 5_000,
    }),
    (error) =>
      error instanceof CouldNotRun &&
      /self-signed certificate/.test(error.message) &&
      /NODE_EXTRA_CA_CERTS/.test(error.remedy),
  )
})
