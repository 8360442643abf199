// The result of a benchmark as JSON. A file of results has the latest one of each benchmark and size; bench/charts.ts draws it.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Benchmark, RunOptions } from './benchmark.ts'
import type { Ratios } from './ratios.ts'
import type { Finished } from './rounds.ts'

export interface Result extends Ratios {
  readonly name: string
  /** With --size. */
  readonly size?: number
  /** The ratios are of subject to baseline, by speed or CPU. */
  readonly by: 'speed' | 'CPU'
  readonly cpu_ratio?: number
  readonly goal: number
  readonly least_per_second?: number
  readonly ok: boolean
  readonly baseline: string
  readonly subject_per_second?: number
  readonly baseline_per_second?: number
  readonly subject_peak_mb?: number
  readonly baseline_peak_mb?: number
  /** The day and the version of Node of the measurement. */
  readonly date: string
  readonly node: string
}

export function resultOf(benchmark: Benchmark, options: RunOptions, finished: Finished): Result {
  const { bySpeed, byCpu, subjectPerSecond, baselinePerSecond, subjectPeakMb, baselinePeakMb } = finished
  const { name, goal, by = 'speed', baseline, leastPerSecond } = benchmark
  const { ratio, min, max } = by === 'CPU' ? byCpu : bySpeed
  return {
    name,
    ...(options.size !== undefined && { size: options.size }),
    ratio: rounded(ratio),
    min: rounded(min),
    max: rounded(max),
    by,
    // JSON has no NaN: the CPU of a program of the system is not measured.
    ...(Number.isFinite(byCpu.ratio) && { cpu_ratio: rounded(byCpu.ratio) }),
    goal,
    ...(leastPerSecond !== undefined && { least_per_second: leastPerSecond }),
    ok: ratio >= goal && subjectPerSecond >= (leastPerSecond ?? 0),
    baseline,
    subject_per_second: Math.round(subjectPerSecond),
    baseline_per_second: Math.round(baselinePerSecond),
    ...(subjectPeakMb !== undefined && { subject_peak_mb: subjectPeakMb }),
    ...(baselinePeakMb !== undefined && { baseline_peak_mb: baselinePeakMb }),
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
  }
}

export function readResults(file: string): readonly Result[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Result[]) : []
}

/** Replaces the earlier result of the same benchmark and size. */
export function addResult(file: string, result: Result): void {
  const others = readResults(file).filter(({ name, size }) => name !== result.name || size !== result.size)
  const sorted = [...others, result].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`)
}

const keyOf = ({ name, size = 0 }: Result): string => `${name} ${String(size).padStart(12, '0')}`

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
