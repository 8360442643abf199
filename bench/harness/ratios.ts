// Arithmetic with measured rounds. Pure.

/** The result of one contender in one round. */
export interface Measure {
  readonly messages: number
  readonly seconds: number
  /** CPU of all threads of the contender's process, without that of a database server. */
  readonly cpuUs: number
  /** The peak memory of the contender's process since its start. */
  readonly peakMb?: number
  /** Additional figures for the table, such as the latency. */
  readonly notes?: Readonly<Record<string, string>>
}

export interface Ratios {
  readonly ratio: number
  readonly min: number
  readonly max: number
}

/** Pairs the rounds: each ratio compares two consecutive measurements, so that noise affects both. */
export function ratios(
  subject: readonly Measure[],
  baseline: readonly Measure[],
  of: (measure: Measure) => number,
): Ratios {
  const paired = subject.map((measure, i) => of(measure) / of(baseline[i] as Measure))
  return { ratio: median(paired), min: Math.min(...paired), max: Math.max(...paired) }
}

export function perSecond(measure: Measure): number {
  return measure.messages / measure.seconds
}

/** Messages per second of CPU. */
export function perCpuSecond(measure: Measure): number {
  return 1e6 / cpuPerMessage(measure)
}

export function cpuPerMessage(measure: Measure): number {
  return measure.cpuUs / measure.messages
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
