// Thousands of runs of both sides in virtual time (prove/simulation). The large size also plants bugs, and each must be found.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { importOptions } from '../../test/support/quick-imports/import-options.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { bugs } from '../simulation/bugs.ts'
import type { SeedsRun } from '../simulation/seeds.ts'
import { demandedStates } from '../simulation/states.ts'

const run = promisify(execFile)
const program = (name: string): string => fileURLToPath(new URL(`../simulation/${name}.ts`, import.meta.url))
const seeds = { small: 40, full: 10_000 }
/** On a slow machine the small size has fewer seeds. */
const smallMs = 30_000
const fullMs = 1_800_000
const seedsForBug = 2_000

export const simulate: Proof = {
  name: 'simulate',
  claims: 'under faults that a seed places, both sides keep §7, lose nothing and drain',
  boundSeconds: { small: 90, full: 3_600 },
  async run(options, signal) {
    // SEED repeats one run.
    const only = Number(process.env.SEED ?? 0)
    const figures =
      only > 0
        ? await runSeeds(options, only, only, signal)
        : await runSeeds(options, 1, seeds[options.small ? 'small' : 'full'], signal)
    return only > 0 || options.small ? figures : { ...figures, ...(await findBugs(options, signal)) }
  },
}

async function runSeeds(
  { small, folder, print }: ProofOptions,
  first: number,
  last: number,
  signal: AbortSignal,
): Promise<Figures> {
  const began = performance.now()
  // Each process runs every n-th seed.
  const processes = Math.min(availableParallelism(), 4, last - first + 1)
  const parts = await Promise.all(
    Array.from({ length: processes }, async (_, part) => {
      const numbers = [first + part, last, processes, small ? smallMs : fullMs].map(String)
      const args = [...importOptions, program('seeds'), ...numbers]
      const { stdout } = await run(process.execPath, args, { signal, maxBuffer: 64 * 1024 * 1024 })
      return JSON.parse(stdout) as SeedsRun
    }),
  )
  const { runs, states, failed, differing } = sum(parts)
  for (const { seed, violation, recent } of failed) {
    await writeFile(join(folder, `seed-${seed}.txt`), [violation, ...recent, ''].join('\n'))
    print(`seed ${seed}: ${violation.slice(0, 300)}; repeat it: SEED=${seed} npm run prove -- simulate`)
  }
  assert.deepEqual(
    failed.map(({ seed }) => seed),
    [],
    'these seeds failed',
  )
  assert.deepEqual(differing, [], 'two runs of these seeds differ')
  if (runs > 100)
    assert.deepEqual(
      demandedStates.filter((state) => !states[state]),
      [],
      'these states were never reached',
    )
  const perSecond = Math.round((1_000 * runs) / (performance.now() - began))
  return { runs, states: Object.keys(states).length, runs_a_second: perSecond }
}

function sum(parts: readonly SeedsRun[]): SeedsRun {
  const states: Record<string, number> = {}
  for (const part of parts)
    for (const [state, times] of Object.entries(part.states)) states[state] = (states[state] ?? 0) + times
  return {
    runs: parts.reduce((total, { runs }) => total + runs, 0),
    states,
    failed: parts.flatMap(({ failed }) => failed),
    differing: parts.flatMap(({ differing }) => differing),
  }
}

async function findBugs({ print }: ProofOptions, signal: AbortSignal): Promise<Figures> {
  const missed: string[] = []
  let most = 0
  for (const [number, { name }] of bugs.entries()) {
    const { stdout } = await run(process.execPath, [program('hunt'), String(number), String(seedsForBug)], { signal })
    const { seed, violation } = JSON.parse(stdout) as { seed?: number; violation?: string }
    print(`planted: ${name}: ${seed === undefined ? 'not found' : `seed ${seed}, ${violation}`}`)
    if (seed === undefined) missed.push(name)
    else most = Math.max(most, seed)
  }
  assert.deepEqual(missed, [], `these planted bugs were not found within ${seedsForBug} seeds`)
  return { planted_bugs: bugs.length, most_seeds_for_a_bug: most }
}
