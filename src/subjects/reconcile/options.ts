import type { AddressOptions } from '../../base/http-client/caller.ts'
import type { ReconciliationField as Field } from '../../contract/records.ts'
import type { SizeLimits } from './size-limits.ts'

/** The reconciliation of one brand: its operator's lists are compared with the CRM. */
export interface ReconciliationOptions extends AddressOptions {
  readonly brand: string
  /** The operator's {base_url}. */
  readonly url: string
  /** Required unless there is `auth`. */
  readonly apiKey?: string | undefined
  readonly fields: readonly Field[]
  /** The interval between two runs of a field. Default: runs start only on request. */
  readonly everyMs?: number
  /** Changes of the CRM within this time before the operator's data are too recent to judge. Default: 300,000. */
  readonly graceMs?: number
  readonly limits?: Partial<ReconciliationLimits>
}

export interface ReconciliationLimits extends SizeLimits {
  /** The maximum length of an id. */
  readonly idBytes: number
  /** The longest time without data from the operator. */
  readonly idleMs: number
  /** The time limit of the whole answer. */
  readonly totalMs: number
}

export const reconciliationDefaults = {
  graceMs: 300_000,
  limits: { shrink: 20, grow: 50, slack: 1_000, idBytes: 16 * 1024, idleMs: 30_000, totalMs: 900_000 },
} as const satisfies { graceMs: number; limits: ReconciliationLimits }

/** The settings to fetch and judge a list, with defaults. */
export interface ReconciliationTarget extends AddressOptions {
  readonly url: string
  readonly apiKey?: string | undefined
  readonly graceMs: number
  readonly limits: ReconciliationLimits
}

export function resolveTarget({
  graceMs = reconciliationDefaults.graceMs,
  limits,
  ...operator
}: ReconciliationOptions): ReconciliationTarget {
  return { ...operator, graceMs, limits: { ...reconciliationDefaults.limits, ...limits } }
}
