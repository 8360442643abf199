// The proof that each check can fail: for each there is a broken variant of a correct operator that this check finds, and no check
// that is unrelated to the fault.

import assert from 'node:assert/strict'
import test from 'node:test'
import { targetsOf } from '../../src/tools/checker/target.ts'
import { allChecks, checkPlain, failedChecks, longDeliveryMs, onePushChannel, withPace } from './check-plain.ts'
import { assertAllPassed, assertEachHasMutant } from './judge-run.ts'
import type { EndpointKind } from './mutants/mutant.ts'
import { mutants } from './mutants.ts'

test('the plain operator passes every check that applies to it', async () => {
  const { results } = await checkPlain()
  assertAllPassed(results, allChecks)
})

test('every check has a mutant, and an id of its own', () => assertEachHasMutant(allChecks, mutants))

/** How many mutants run at the same time: they wait most of the time. */
const atOnce = 8

const isUsedBy = ({ scenario }: (typeof allChecks)[number], kind: EndpointKind): boolean =>
  targetsOf(scenario.scope).some(({ uses }) => uses.some((feature) => feature.endsWith(kind)))

test('each mutant is found by its check, and by no unrelated one', async (t) => {
  const queue = [...mutants]
  const rows: string[] = []
  const wrong: string[] = []
  async function runMutants(): Promise<void> {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const { at, inFlight, only = inFlight && ['time', 'repeat', 'single', 'batch'], pace: other, both } = mutant
      const outcome = await checkPlain(
        { ...mutant.mutate(), ...(inFlight && { deliveryMs: longDeliveryMs }) },
        {
          ...(!both && { features: onePushChannel }),
          ...(at && { checks: allChecks.filter((check) => isUsedBy(check, at)) }),
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
