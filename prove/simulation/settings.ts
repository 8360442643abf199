// The settings of a run, and how often each fault happens in it. A seed draws both.

import type { Random } from './random.ts'

export const faultNames = [
  // store
  'commit answer lost',
  'begin busy',
  'disk full',
  'slow store',
  'read fails',
  // wire
  'no connection',
  'request lost',
  'request reset',
  'answer lost',
  'answer reset',
  'request doubled',
  'answer cut',
  'answer partial',
  'answer delayed',
  'proxy 429',
  'proxy 500',
  'proxy 502',
  'proxy 503',
  'proxy 400',
  // provider
  'provider hangs',
  'provider throws',
  'provider fatal',
  'provider miscounts',
  'provider late',
  'provider asks to wait',
  // processes and their clocks
  'operator killed',
  'platform killed',
  'operator stopped',
  'platform stopped',
  'operator clock set',
  'platform clock set',
  'answer names a stranger',
  'provider outage',
] as const
export type FaultName = (typeof faultNames)[number]

export interface Faults {
  /** Whether the fault happens now. */
  fires(name: FaultName): boolean
  /** No fault happens any more. */
  heal(): void
}

export function createFaults(random: Random, reach: (state: string) => void): Faults {
  // Half of the faults, so that their combinations differ; at a share of their own.
  const shares = new Map(faultNames.map((name) => [name, random.chance(0.5) ? random.pick([0.01, 0.04, 0.15]) : 0]))
  let healed = false
  return {
    fires(name) {
      if (healed || !random.chance(shares.get(name) as number)) return false
      reach(`fault: ${name}`)
      return true
    },
    heal() {
      healed = true
    },
  }
}

export type Settings = ReturnType<typeof drawSettings>

export function drawSettings(random: Random) {
  const mode = random.pick(['single', 'batch'] as const)
  const timeoutMs = random.pick([100, 500, 3_000, 10_000])
  return {
    mode,
    messages: random.integer(4, 40),
    lane: {
      mode,
      max: random.pick([1, 2, 7, 20]),
      spanMs: random.pick([0, 10, 200]),
      concurrency: random.integer(1, 5),
      timeoutMs,
      failedActions: random.chance(0.8),
      retry: { firstMs: random.pick([10, 100, 1_000]), mostMs: random.pick([500, 2_000, 40_000]) },
      ...(random.chance(0.2) && { perSecond: random.pick([5, 50]) }),
    },
    operator: {
      inProgress: random.pick([3, 20, 1_000]),
      answerBudgetMs: random.pick([50, 400, 2_000, 20_000]),
      providerConcurrency: random.integer(1, 10),
      providerTimeoutMs: random.pick([50, 400, 5_000]),
      providerMax: random.pick([1, 3, 100]),
      batchMax: random.pick([5, 10_000]),
    },
    chaosMs: random.pick([1_000, 5_000, 20_000]),
    expiring: random.chance(0.2),
  }
}
