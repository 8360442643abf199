// The proof that each check of a platform can fail: for each there is a broken variant of a correct platform that this check finds, and
// no check that is unrelated to the fault.

import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import test from 'node:test'
import { failedChecks } from './check-plain.ts'
import { allPlatformChecks, checkPlainPlatform } from './check-plain-platform.ts'
import { assertAllPassed, assertEachHasMutant } from './judge-run.ts'
import { platformMutants } from './platform-mutants.ts'

test('the plain platform passes every check that applies to it', async () => {
  const outcomes = await Promise.all([
    checkPlainPlatform(),
    checkPlainPlatform(undefined, { modes: { push: 'single', site: 'batch' } }),
  ])
  const results = outcomes.flatMap((outcome) => outcome.results)
  assertAllPassed(results, allPlatformChecks)
})

test('every check of a platform has a mutant, and an id of its own', () =>
  assertEachHasMutant(allPlatformChecks, platformMutants))

const groups = new Set(allPlatformChecks.map(({ id }) => id.split('.')[0] as string))
const quick = [...groups].filter((group) => !['pause', 'restart', 'link', 'status'].includes(group))

/** How many mutants run at the same time: they wait most of the time. */
const atOnce = 8

/** A longer standstill of the event loop shifts the pauses that the checks judge: the shortest of them is 20 ms. */
const standstillMs = 80

test('each mutant of the platform is found by its check, and by no unrelated one', async (t) => {
  const queue = [...platformMutants]
  const disturbed: (typeof platformMutants)[number][] = []
  const wrong: string[] = []
  async function runMutants(): Promise<void> {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const delay = monitorEventLoopDelay()
      delay.enable()
      const difference = await differenceOf(mutant)
      delay.disable()
      if (difference === undefined) t.diagnostic(`✓ ${mutant.check.padEnd(22)} ${mutant.fault}`)
      else if (delay.max > standstillMs * 1e6) disturbed.push(mutant)
      else wrong.push(`${mutant.fault}: ${difference}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, runMutants))
  for (const mutant of disturbed) {
    t.diagnostic(`the machine stood still, judged again: ${mutant.fault}`)
    const difference = await differenceOf(mutant)
    if (difference !== undefined) wrong.push(`${mutant.fault}: ${difference}`)
  }
  assert.deepEqual(wrong, [])
})

/** @returns the checks that did not find the mutant, and those that found another fault. Undefined: none */
async function differenceOf(mutant: (typeof platformMutants)[number]): Promise<string | undefined> {
  const { check, modes, also = [] } = mutant
  const { only = check.startsWith('pause.') ? ['pause', 'lost'] : quick } = mutant
  const outcome = await checkPlainPlatform(mutant.mutate, { only, ...(modes && { modes }) })
  const failed = failedChecks(outcome)
  const expected = new Set([check, ...also])
  const run = new Set(outcome.results.map((result) => result.check.id))
  const difference = [...expected].filter((id) => run.has(id) && !failed.includes(id)).map((id) => `not ${id}`)
  for (const result of outcome.results)
    if (result.status === 'failed' && !expected.has(result.check.id))
      difference.push(`${result.check.id} (${result.target.name}): ${result.seen}`)
  return difference.length > 0 ? difference.join('; ') : undefined
}
