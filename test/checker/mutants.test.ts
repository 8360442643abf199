// The proof that each check can fail: for each there is a broken variant of a correct operator that this check finds, and no check
// that is unrelated to the fault.

import assert from 'node:assert/strict'
import test from 'node:test'
import { allChecks, checkPlain, failedChecks, longDeliveryMs, onePushChannel, withPace } from './check-plain.ts'
import { type Mutant, mutants } from './mutants.ts'

test('the plain operator passes every check that applies to it', async () => {
  const { results } = await checkPlain()
  const others = results.filter(({ status }) => status !== 'passed' && status !== 'not_applicable')
  assert.deepEqual(
    others.map(({ check, target, status, seen }) => `${check.id} (${target.name}) ${status}: ${seen}`),
    [],
  )
  const passed = new Set(results.filter(({ status }) => status === 'passed').map(({ check }) => check.id))
  assert.deepEqual(
    allChecks.map(({ id }) => id).filter((id) => !passed.has(id)),
    [],
    'checks that judged nothing',
  )
})

test('every check has a mutant, and an id of its own', () => {
  const found = new Set(mutants.map(({ check }) => check))
  const ids = allChecks.map(({ id }) => id)
  assert.deepEqual(
    ids.filter((id) => !found.has(id)),
    [],
  )
  assert.equal(new Set(ids).size, ids.length)
})

/** How many mutants run at the same time: they wait most of the time. */
const atOnce = 8

test('each mutant is found by its check, and by no unrelated one', async (t) => {
  const queue = [...mutants]
  const rows: string[] = []
  const wrong: string[] = []
  async function runMutants(): Promise<void> {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const { inFlight, only = inFlight && ['time', 'repeat', 'single', 'batch'], pace: other, both } = mutant
      const outcome = await checkPlain(
        { ...mutant.mutate(), ...(inFlight && { deliveryMs: longDeliveryMs }) },
        {
          ...(!both && { features: onePushChannel }),
          ...(only && { only }),
          ...(other && withPace(other)),
        },
      )
      const failed = failedChecks(outcome)
      rows.push(`${failed.includes(mutant.check) ? '✓' : '✗'} ${mutant.check.padEnd(32)} ${mutant.fault}`)
      const expected = new Set([mutant.check, ...(mutant.also ?? [])])
      const difference = [...expected].filter((id) => !failed.includes(id)).map((id) => `not ${id}`)
      for (const { check, target, status, seen } of outcome.results)
        if (status === 'failed' && !expected.has(check.id)) difference.push(`${check.id} (${target.name}): ${seen}`)
      if (difference.length > 0) wrong.push(`${mutant.fault}: ${difference.join('; ')}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, runMutants))
  for (const row of rows.toSorted()) t.diagnostic(row)
  assert.deepEqual(wrong, [])
})

test('a mutant names checks that exist', () => {
  const ids = new Set(allChecks.map(({ id }) => id))
  const named = mutants.flatMap(({ check, also = [] }: Mutant) => [check, ...also])
  assert.deepEqual(
    named.filter((id) => !ids.has(id)),
    [],
  )
})
