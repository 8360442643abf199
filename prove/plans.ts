// What the driver tells the processes of a proof, in their environment.

import type { OperatorLimits } from '../src/operator/options.ts'
import type { LaneOptions } from '../src/platform/options.ts'

export interface OperatorPlan {
  readonly store: string
  readonly port: number
  /** Brand 1's user 1001 is blocked; else nobody. */
  readonly oneBlocked?: boolean
  readonly limits?: Partial<OperatorLimits>
  /** Pushes go to devices: each message leaves and is settled by itself. Else in batches. */
  readonly devices?: boolean
}

export interface PlatformPlan {
  readonly store: string
  readonly port: number
  /** The operator's processes; a lane's calls go to them in turn. */
  readonly operators: readonly string[]
  readonly lane?: Partial<Pick<LaneOptions, 'mode' | 'max' | 'spanMs' | 'concurrency' | 'timeoutMs' | 'retry'>>
}

export const planVariable = 'PROVE_PLAN'
export const witnessVariable = 'PROVE_WITNESS'

export function readPlan<Plan>(): Plan {
  return JSON.parse(process.env[planVariable] ?? 'null') as Plan
}

/** Each API key opens one brand only (row 31). */
export const apiKeys: Readonly<Record<string, string>> = {
  '1': 'operator-key-of-brand-1-0123456789',
  '2': 'operator-key-of-brand-2-0123456789',
}
export const adminKey = 'admin-key-of-the-proofs-0123456789'
export const appSecret = 'secret-of-subscriber-tokens-0123456789abcdef'
