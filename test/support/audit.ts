import type { TestContext } from 'node:test'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { auditMigrations } from '../../src/subjects/audit/table.ts'
import { type AuditTrail, createAuditTrail } from '../../src/subjects/audit/trail.ts'

/** An audit trail in memory. */
export async function openTrail(t: TestContext): Promise<AuditTrail> {
  const database = await openDatabase('sqlite::memory:', { migrations: auditMigrations })
  t.after(() => database.close())
  return createAuditTrail([{ name: '0', database }], () => database)
}
