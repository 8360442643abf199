import type { Measure } from './ratios.ts'

export interface RunOptions {
  readonly rounds: number
  readonly seconds: number
  /** Rows, ids: for the benchmarks whose rounds have a size and no length. */
  readonly size?: number
  /** A folder for the subject's CPU profile; absent: no profile is taken. */
  readonly profileTo?: string
}

/** One side of a comparison, started and waiting. */
export interface Contender {
  readonly name: string
  /** Untimed: code gets hot, caches fill. */
  warm(seconds: number): Promise<void>
  round(seconds: number): Promise<Measure>
  stop(): Promise<void>
}

/** @example { name: 'ingest-single', goal: 0.7, baseline: 'node:http + JSON.parse', about: '…', start } */
export interface Benchmark {
  readonly name: string
  /** The least ratio, subject over baseline, that we want to see. */
  readonly goal: number
  /** What the ratio is of: messages a second, or messages for the same CPU (0.5: the subject needs twice as much for one). Speed. */
  readonly by?: 'speed' | 'CPU'
  /** Besides the ratio: the least messages per second on the machine that this was written on. */
  readonly leastPerSecond?: number
  readonly baseline: string
  readonly about: string
  start(options: RunOptions): Promise<{ readonly subject: Contender; readonly baseline: Contender }>
}
