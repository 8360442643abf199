// npm run bench                 lists the benchmarks with their goals
// npm run bench -- NAME …       runs them; the last line of each is one line of JSON
// npm run bench -- --all        runs all
// … --json FILE                 also adds each result to this JSON file; bench/results.json has the figures of docs/performance.md

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Benchmark, RunOptions } from './harness/benchmark.ts'
import { machineLine } from './harness/cores.ts'
import { summariseProfiles } from './harness/profile.ts'
import { addResult, resultOf } from './harness/results.ts'
import { runRounds } from './harness/rounds.ts'
import { benchmarks } from './list.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    size: { type: 'string' },
    profile: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
})
const options = {
  rounds: positive('rounds', values.rounds),
  seconds: positive('seconds', values.seconds),
  ...(values.size !== undefined && { size: positive('size', values.size) }),
}
// Stores are removed on 'exit', which Node does not emit after an unhandled signal.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const chosen = values.all ? benchmarks : positionals.map(findBenchmark)
if (chosen.length === 0) printBenchmarks()
for (const benchmark of chosen) await (values.profile ? runProfiled : runBenchmark)(benchmark, options)

function printBenchmarks(): void {
  console.log('npm run bench -- NAME [--rounds 5] [--seconds 2] [--size N] [--profile] [--json FILE]\n')
  const width = Math.max(...benchmarks.map(({ name }) => name.length))
  for (const { name, goal, leastPerSecond, about, baseline } of benchmarks) {
    const least = leastPerSecond ? `, ≥ ${leastPerSecond.toLocaleString('en')} msg/s` : ''
    console.log(
      `${name.padEnd(width)}  ≥ ${goal.toFixed(2)}${least}   ${about}\n${' '.repeat(width)}           against: ${baseline}`,
    )
  }
}

async function runBenchmark(benchmark: Benchmark, runOptions: RunOptions): Promise<void> {
  console.log(`\n${benchmark.name}: ${benchmark.about}\n${machineLine()}`)
  const result = await runRounds(benchmark, runOptions, (line) => console.log(line))
  if (runOptions.profileTo) await printProfile(runOptions.profileTo)
  const summary = resultOf(benchmark, runOptions, result)
  console.log(
    `ratio ${two(summary.ratio)} (${two(summary.min)} to ${two(summary.max)}, ${runOptions.rounds} rounds) by ${summary.by}; by speed ${two(result.bySpeed.ratio)}, by CPU ${two(result.byCpu.ratio)}; goal ≥ ${two(benchmark.goal)}`,
  )
  if (values.json !== undefined) addResult(values.json, summary)
  console.log(JSON.stringify(summary))
}

/** Prints the subject's most expensive functions. Profiling slows the run, so only the shares are meaningful. */
async function runProfiled(benchmark: Benchmark, runOptions: RunOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bellwire-profile-'))
  try {
    await runBenchmark(benchmark, { ...runOptions, profileTo: folder })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function printProfile(folder: string): Promise<void> {
  for (const [name, top] of await summariseProfiles(folder, 25)) {
    console.log(`${name}: self time (without idle time)`)
    for (const { where, ms, share } of top) {
      console.log(`${(share * 100).toFixed(1).padStart(5)} %  ${Math.round(ms).toString().padStart(6)} ms  ${where}`)
    }
  }
}

function findBenchmark(name: string): Benchmark {
  const found = benchmarks.find((benchmark) => benchmark.name === name)
  if (found) return found
  console.error(`unknown benchmark '${name}'; npm run bench lists the benchmarks`)
  process.exit(2)
}

function positive(option: string, text: string): number {
  const value = Number(text)
  if (value > 0) return value
  console.error(`--${option} must be a number above 0, not '${text}'`)
  process.exit(2)
}

function two(value: number): string {
  return value.toFixed(2)
}
