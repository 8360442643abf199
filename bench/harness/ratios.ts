// Pure arithmetic over measured rounds.

/** What one contender did in one round. */
export interface Measure {
  readonly messages: number
  readonly seconds: number
  /** CPU of the contender's own process, all its threads; a database server's is not in it. */
  readonly cpuUs: number
  /** Figures worth a look in the table: latency, how busy the load generator was. */
  readonly notes?: Readonly<Record<string, string>>
}

export interface Ratios {
  readonly ratio: number
  readonly min: number
  readonly max: number
  /** Baseline's CPU per message over the subject's: 1 is equal, 0.5 means that the subject needs twice as much. */
  readonly cpuRatio: number
}

/** Pairs the rounds: each ratio compares two neighbours in time, so that a noisy minute touches both sides of it. */
export function ratios(subject: readonly Measure[], baseline: readonly Measure[]): Ratios {
  const speed = subject.map((measure, i) => perSecond(measure) / perSecond(baseline[i] as Measure))
  const cpu = subject.map((measure, i) => cpuPerMessage(baseline[i] as Measure) / cpuPerMessage(measure))
  return { ratio: median(speed), min: Math.min(...speed), max: Math.max(...speed), cpuRatio: median(cpu) }
}

export function perSecond(measure: Measure): number {
  return measure.messages / measure.seconds
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
