// The plans that a proof passes to its processes through environment variables.

import { postgresDefaults } from '../src/base/store/postgres-defaults.ts'
import type { OperatorLimits } from '../src/sides/operator/options.ts'
import type { LaneOptions } from '../src/sides/platform/options.ts'

export interface OperatorPlan {
  readonly store: string
  readonly port: number
  /** Blocks user 1001 of brand 1. Default: no user is blocked. */
  readonly oneBlocked?: boolean
  /** The URL of an endpoint that tells who is excluded. */
  readonly attributes?: string
  readonly limits?: Partial<OperatorLimits>
  /** The API key of each brand. Default: apiKeys. */
  readonly keys?: Readonly<Record<string, string>>
  /** Pushes are sent to devices, each message in its own call. Default: in batches. */
  readonly devices?: boolean
  /** Keeps the devices of users, and a status of each message. */
  readonly people?: boolean
}

export interface PlatformPlan {
  readonly store: string
  readonly port: number
  /** The URLs of the operator's processes. A lane calls them in turn. */
  readonly operators: readonly string[]
  readonly lane?: Partial<Pick<LaneOptions, 'mode' | 'max' | 'spanMs' | 'concurrency' | 'timeoutMs' | 'retry'>>
}

export interface LanePlan {
  readonly store: string
  readonly port: number
  /** Each brand has two lanes. */
  readonly brands: number
  /** The file to which each message is appended. */
  readonly witness: string
  /** Default: batch. */
  readonly mode?: LaneOptions['mode']
  /** Default: 4. */
  readonly concurrency?: number
  /** How long the provider takes for a call. Default: 5. */
  readonly callMs?: number
}

export interface StormPlan {
  readonly store: string
  readonly port: number
  /** The operator of each brand. */
  readonly operators: Readonly<Record<string, { readonly url: string; readonly apiKey: string }>>
  readonly max: number
  readonly retry: LaneOptions['retry'] & object
}

export const planVariable = 'PROVE_PLAN'
export const witnessVariable = 'PROVE_WITNESS'
/** The values of postgresDefaults, as JSON. */
export const postgresVariable = 'PROVE_POSTGRES'

/** For a process of a proof. */
export function readPlan<Plan>(): Plan {
  Object.assign(postgresDefaults, JSON.parse(process.env[postgresVariable] ?? '{}'))
  return JSON.parse(process.env[planVariable] ?? 'null') as Plan
}

/** Each API key is valid for one brand only (row 31). */
export const apiKeys: Readonly<Record<string, string>> = {
  '1': 'operator-key-of-brand-1-0123456789',
  '2': 'operator-key-of-brand-2-0123456789',
}
export const adminKey = 'admin-key-of-the-proofs-0123456789'
export const appSecret = 'secret-of-subscriber-tokens-0123456789abcdef'
