import assert from 'node:assert/strict'
import type { Outcome } from '../../src/tools/checker/run-steps.ts'

interface Named {
  readonly id: string
}

/** The results that did not pass, and what was seen. */
export const notPassed = (results: Outcome['results'], tolerated: readonly string[] = ['not_applicable']) =>
  results
    .filter(({ status }) => status !== 'passed' && !tolerated.includes(status))
    .map(({ check, target, status, seen }) => `${check.id} (${target.name}) ${status}: ${seen}`)

/** A correct side passes every check, and each check judged something. */
export function assertAllPassed(results: Outcome['results'], checks: readonly Named[]): void {
  assert.deepEqual(notPassed(results), [])
  const passed = new Set(results.filter(({ status }) => status === 'passed').map(({ check }) => check.id))
  const idle = checks.filter(({ id }) => !passed.has(id))
  assert.deepEqual(idle, [], 'checks that judged nothing')
}

/** Every check has a mutant and an id of its own, and the mutants name checks that exist. */
export function assertEachHasMutant(
  checks: readonly Named[],
  mutants: readonly { readonly check: string; readonly also?: readonly string[] }[],
): void {
  const ids = new Set(checks.map(({ id }) => id))
  assert.equal(ids.size, checks.length)
  const found = new Set(mutants.map(({ check }) => check))
  const without = [...ids].filter((id) => !found.has(id))
  assert.deepEqual(without, [], 'checks without a mutant')
  const named = mutants.flatMap(({ check, also = [] }) => [check, ...also])
  const unknown = named.filter((id) => !ids.has(id))
  assert.deepEqual(unknown, [], 'checks that do not exist')
}
