import type { TestContext } from 'node:test'
import { auditMigrations } from '../../src/subjects/audit/table.ts'
import { type AuditTrail, createAuditTrail } from '../../src/subjects/audit/trail.ts'
import { openTestDatabase } from './open-test-database.ts'

/** An audit trail in memory. */
export async function openTrail(t: TestContext): Promise<AuditTrail> {
  const database = await openTestDatabase(t, 'sqlite::memory:', { migrations: auditMigrations })
  return createAuditTrail([{ name: '0', database }], () => database)
}
