import type { Measure } from './ratios.ts'

export interface RunOptions {
  readonly rounds: number
  readonly seconds: number
  /** Rows or ids, for benchmarks whose rounds have a fixed size instead of a duration. */
  readonly size?: number
  /** The folder for the subject's CPU profile; without it no profile is written. */
  readonly profileTo?: string
}

/** One side of a comparison, started and ready. */
export interface Contender {
  readonly name: string
  /** Not measured: code is compiled, caches are filled. */
  warm(seconds: number): Promise<void>
  round(seconds: number): Promise<Measure>
  stop(): Promise<void>
}

/** @example { name: 'ingest-single', goal: 0.7, baseline: 'node:http + JSON.parse', about: '…', start } */
export interface Benchmark {
  readonly name: string
  /** The required ratio of subject to baseline. */
  readonly goal: number
  /** The compared figure: messages per second, or messages per CPU second (0.5: the subject takes twice the CPU). Default: speed. */
  readonly by?: 'speed' | 'CPU'
  /** In addition to the ratio: the required messages per second on the machine of the first measurement. */
  readonly leastPerSecond?: number
  readonly baseline: string
  readonly about: string
  start(options: RunOptions): Promise<{ readonly subject: Contender; readonly baseline: Contender }>
}
