// Test helpers: statuses in a store of their own, without an operator.

import type { TestContext } from 'node:test'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import type { Database } from '../../src/base/store/database.ts'
import { readStatus, type StatusRecord } from '../../src/contract/status-record.ts'
import { createStatusPages, type StatusPages } from '../../src/subjects/status/pages.ts'
import { createStatusRecorder, type FirstStatus, type StatusRecorder } from '../../src/subjects/status/recorder.ts'
import { statusMigrations } from '../../src/subjects/status/tables.ts'
import { openTestDatabase } from '../support/open-test-database.ts'

export interface OpenStatuses {
  readonly database: Database
  readonly recorder: StatusRecorder
  readonly pages: StatusPages
}

export async function openStatuses(t: TestContext, store: string): Promise<OpenStatuses> {
  const database = await openTestDatabase(t, store, { migrations: statusMigrations })
  return { database, recorder: createStatusRecorder({ database }), pages: createStatusPages(database) }
}

/** A message of brand 1 that was sent. */
export function sent(over: Partial<FirstStatus> = {}): FirstStatus {
  const ref = uuidv7()
  return {
    brand: '1',
    ref,
    channel: 'push',
    userId: '1001',
    status: 'sent',
    at: '2026-01-01T10:00:00',
    meta: `{"activity":{"id": 9007199254740993},"of":"${ref}"}`,
    ...over,
  }
}

export async function add(
  { database, recorder }: Pick<OpenStatuses, 'database' | 'recorder'>,
  ...firsts: readonly FirstStatus[]
): Promise<void> {
  await database.commit(recorder.firstOps(firsts))
}

/** Reads pages until one is empty. */
export async function readAll(
  pages: StatusPages,
  after?: string,
  brands: readonly string[] = ['1'],
  limit = 1_000,
): Promise<{ readonly records: readonly StatusRecord[]; readonly next: string }> {
  const records: StatusRecord[] = []
  let next = after
  for (;;) {
    const page = await pages.read(brands, next, limit)
    if (page.restart !== undefined) throw new Error('the cursor is unknown')
    next = page.next
    if (page.records.length === 0) return { records, next }
    records.push(...page.records.map((text) => readStatus(text) as StatusRecord))
  }
}
