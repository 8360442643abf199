// A platform with a CRM, for the tests of reconciliation.

import type { TestContext } from 'node:test'
import type { ShownRun } from '../../src/sides/admin/shown/run.ts'
import type { ReconciliationOptions } from '../../src/subjects/reconcile/options.ts'
import { adminKey, get, post, startPlatform } from '../support/sides.ts'
import { until } from '../support/wait.ts'

/** The time of the CRM's attributes: old enough to be judged. */
export const longAgo = '2026-01-01T00:00:00Z'
export const ndjson = { 'content-type': 'application/x-ndjson' }

export type Over = Partial<Omit<ReconciliationOptions, 'limits'>> & {
  readonly limits?: Partial<ReconciliationOptions['limits']>
}

/** Reconciles the brands 1 and 2 with one operator, each with its own key. */
export async function startReconciling(
  t: TestContext,
  store: string,
  url: string,
  over: Over = {},
): Promise<{ url: string; stop(): Promise<void> }> {
  const optionsOf = (brand: string) => ({
    brand,
    url,
    apiKey: `the-key-of-brand-${brand}`,
    fields: ['blocked', 'excluded', 'consent_push_notification'] as const,
    ...over,
  })
  return startPlatform(t, {
    store,
    lanes: [],
    reconciliation: [optionsOf('1'), optionsOf('2')] as ReconciliationOptions[],
  })
}

export async function importLines(url: string, brand: string, lines: readonly object[], asOf = longAgo) {
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  return (await post(`${url}/admin/attributes/${brand}?as_of=${asOf}&reason=test`, body, adminKey.key, ndjson)).body
}

export async function runReconciliation(url: string, brand: string, field: string, anySize = false): Promise<ShownRun> {
  const { body } = await post(`${url}/admin/reconciliations`, { brand, field, any_size: anySize }, adminKey.key)
  return waitUntilEnded(url, body.run)
}

export async function waitUntilEnded(url: string, run: string): Promise<ShownRun> {
  const path = `${url}/admin/reconciliations/${run}`
  return until(
    async () => {
      const { body } = await get(path)
      return body.ended_at !== null ? (body as ShownRun) : undefined
    },
    { withinMs: 20_000, awaited: `the end of run ${run}` },
  )
}

export interface FoundDiscrepancy {
  readonly n: number
  readonly user_id: string
  readonly direction: string
  readonly severity: string
  readonly correction: string | null
}

export async function readDiscrepancies(url: string, run: string): Promise<readonly FoundDiscrepancy[]> {
  return (await get(`${url}/admin/reconciliations/${run}/discrepancies?limit=10000`)).body.discrepancies
}
