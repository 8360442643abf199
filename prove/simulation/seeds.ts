// Runs seeds in a process of its own: virtual time leaves traces in the engine, such as identifiers of the year 2030. argv: the first
// seed, the last seed, the step from seed to seed, and the milliseconds after which no further seed starts. Prints one line of JSON.

import { runSeed } from './run-seed.ts'

export interface SeedsRun {
  readonly runs: number
  /** How often each state was reached. */
  readonly states: Readonly<Record<string, number>>
  readonly failed: readonly { readonly seed: number; readonly violation: string; readonly recent: readonly string[] }[]
  /** The seeds whose two runs had different traces: every hundredth seed runs twice. */
  readonly differing: readonly number[]
}

const [first = 1, last = 1, step = 1, limitMs = 0] = process.argv.slice(2).map(Number)
const states: Record<string, number> = {}
const failed: { seed: number; violation: string; recent: readonly string[] }[] = []
const differing: number[] = []
const began = performance.now()
let runs = 0
for (let seed = first; seed <= last && performance.now() - began < limitMs; seed += step) {
  runs++
  const run = await runSeed(seed)
  for (const [state, times] of run.states) states[state] = (states[state] ?? 0) + times
  if (seed % 100 === 1 && (await runSeed(seed)).trace !== run.trace) differing.push(seed)
  if (run.violation !== undefined) failed.push({ seed, violation: run.violation, recent: run.recent ?? [] })
}
console.log(JSON.stringify({ runs, states, failed, differing } satisfies SeedsRun))
process.exit(0)
