// The measurements of the attacked processes.

import assert from 'node:assert/strict'
import type { Target } from './target.ts'

/** The number of log lines that are not about a message. */
export function countOtherLines({ lines }: Target['operator']): number {
  return lines().filter(({ event }) => !/^(message|batch|item|provider|device)\./.test(String(event))).length
}

/** @example seriesOf('a{b="c"} 1', 'a') // [['a{b="c"}', 1]] */
export function seriesOf(metrics: string, name: string): readonly (readonly [series: string, value: number])[] {
  return metrics
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))])
}

/** @throws AssertionError if the removals of dead devices are stopped */
export async function assertRemovalsGoOn({ metrics }: Target): Promise<void> {
  const stopped = seriesOf(await metrics(), 'bellwire_removals_stopped')
  assert.deepEqual(
    stopped.filter(([, value]) => value !== 0),
    [],
    'removals are stopped',
  )
}

/** @throws AssertionError with this text if the condition does not hold within the time */
export async function waitUntil(
  failure: string,
  signal: AbortSignal,
  holds: () => Promise<boolean>,
  withinMs = 10_000,
): Promise<void> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(withinMs)])
  while (!(await holds())) {
    if (bound.aborted) assert.fail(failure)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
