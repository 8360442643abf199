import type { ReconciliationField as Field } from '../contract/records.ts'
import type { SizeLimits } from './size.ts'

/** The lists of one brand's operator that are compared with the CRM. */
export interface ReconciliationOptions {
  readonly brand: string
  /** The operator's {base_url}. */
  readonly url: string
  readonly apiKey: string
  readonly fields: readonly Field[]
  /** How often each field is compared; left out: only when somebody asks. */
  readonly everyMs?: number
  /** What the CRM changed from so long before the time of the operator's data is too recent to judge. */
  readonly graceMs?: number
  readonly limits?: Partial<ReconciliationLimits>
}

export interface ReconciliationLimits extends SizeLimits {
  /** The longest id. */
  readonly idBytes: number
  /** The longest silence of the operator. */
  readonly idleMs: number
  /** For the whole answer. */
  readonly totalMs: number
}

export const reconciliationDefaults = {
  graceMs: 300_000,
  limits: { shrink: 20, grow: 50, slack: 1_000, idBytes: 16 * 1024, idleMs: 30_000, totalMs: 900_000 },
} as const satisfies { graceMs: number; limits: ReconciliationLimits }

/** One list, with what is needed to fetch and judge it. */
export interface Target {
  readonly url: string
  readonly apiKey: string
  readonly graceMs: number
  readonly limits: ReconciliationLimits
}

export function targetOf({
  url,
  apiKey,
  graceMs = reconciliationDefaults.graceMs,
  limits,
}: ReconciliationOptions): Target {
  return { url, apiKey, graceMs, limits: { ...reconciliationDefaults.limits, ...limits } }
}
