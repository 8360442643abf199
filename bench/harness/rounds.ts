import type { Benchmark, Contender, RunOptions } from './benchmark.ts'
import { cpuPerMessage, type Measure, median, perCpuSecond, perSecond, type Ratios, ratios } from './ratios.ts'

export interface Finished {
  readonly bySpeed: Ratios
  readonly byCpu: Ratios
  readonly subjectPerSecond: number
  readonly baselinePerSecond: number
  /** Absent if the contender does not measure it. */
  readonly subjectPeakMb?: number
  readonly baselinePeakMb?: number
}

/** Runs both contenders alternately (A B, B A, A B, …), so that neither is always first, and prints each round. */
export async function runRounds(
  benchmark: Benchmark,
  options: RunOptions,
  print: (line: string) => void,
): Promise<Finished> {
  const { subject, baseline } = await benchmark.start(options)
  const measured = new Map<Contender, Measure[]>([
    [subject, []],
    [baseline, []],
  ])
  try {
    for (const contender of [subject, baseline]) await contender.warm(Math.max(1, options.seconds))
    for (let round = 0; round < options.rounds; round++) {
      for (const contender of round % 2 ? [baseline, subject] : [subject, baseline]) {
        const measure = await contender.round(options.seconds)
        measured.get(contender)?.push(measure)
        print(`round ${round + 1}  ${contender.name.padEnd(34)} ${figures(measure)}`)
      }
    }
  } finally {
    // The profile is written while the subject stops.
    await Promise.all([subject.stop(), baseline.stop()])
  }
  const ofSubject = measured.get(subject) ?? []
  const ofBaseline = measured.get(baseline) ?? []
  return {
    bySpeed: ratios(ofSubject, ofBaseline, perSecond),
    byCpu: ratios(ofSubject, ofBaseline, perCpuSecond),
    subjectPerSecond: median(ofSubject.map(perSecond)),
    baselinePerSecond: median(ofBaseline.map(perSecond)),
    ...withPeak('subjectPeakMb', ofSubject),
    ...withPeak('baselinePeakMb', ofBaseline),
  }
}

function withPeak<K extends string>(name: K, measures: readonly Measure[]): { readonly [_ in K]?: number } {
  const peak = Math.max(...measures.map(({ peakMb }) => peakMb ?? Number.NaN))
  return (Number.isNaN(peak) ? {} : { [name]: peak }) as { readonly [_ in K]?: number }
}

function figures(measure: Measure): string {
  const speed = `${Math.round(perSecond(measure)).toLocaleString('en').padStart(10)} msg/s`
  const cpu = `${cpuPerMessage(measure).toFixed(2).padStart(7)} µs CPU/msg`
  // If this is far below 100 % and the generator is not busy, other processes used the core.
  const busy = `${Math.round(measure.cpuUs / 1e4 / measure.seconds)
    .toString()
    .padStart(3)} % busy`
  const peak = measure.peakMb === undefined ? [] : [`${measure.peakMb} MB`.padStart(7)]
  const notes = Object.entries(measure.notes ?? {}).map(([name, value]) => `${name} ${value}`)
  return [speed, cpu, busy, ...peak, ...notes].join('   ')
}
