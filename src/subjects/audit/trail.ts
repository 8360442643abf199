// The audit trail of a side. Each of its databases has a chain of its own: an entry is stored with its act, or where its brand is.

import type { Loop } from '../../base/runtime/loop.ts'
import { createRetention } from '../../base/runtime/retention.ts'
import type { Database } from '../../base/store/database.ts'
import { createRefusedKeys, type RefusedKeys } from './refused-keys.ts'
import { auditOps, forgetAudit, type NewAuditEntry } from './table.ts'

export interface AuditStore {
  /** The name of the chain in exports: the number of the store, or `crm`. */
  readonly name: string
  readonly database: Database
}

/** For acts that come over no route of /admin, such as those of your own code. */
export interface ActRecorder {
  /**
   * Stores an entry in the audit trail. `by` names the person or the program.
   *
   * @example await operator.recordAct({ act: 'devices.import', by: 'Mary', brand: '1', count: 200, reason: 'ticket 17' })
   * @throws StoreUnavailable if it cannot be stored
   */
  recordAct(entry: NewAuditEntry): Promise<void>
}

export interface AuditTrail {
  readonly stores: readonly AuditStore[]
  /** Stores an entry in a commit of its own. With `durable: false` it may be lost in a power failure. */
  record(entry: NewAuditEntry, durable?: boolean): Promise<void>
  readonly refusedKeys: RefusedKeys
  /** Starts the retention of each store. */
  start(keptMs?: number): void
  /** Stores the counts of refused keys. */
  stop(): Promise<void>
}

/** Two years: more than most inquiries look back. */
const auditKeptByDefaultMs = 730 * 24 * 3_600_000

/**
 * @param stores the first one has the entries without a brand
 * @param databaseOf the database of a brand
 */
export function createAuditTrail(stores: readonly AuditStore[], databaseOf: (brand: string) => Database): AuditTrail {
  const { database: first } = stores[0] as AuditStore
  const refusedKeys = createRefusedKeys((entries) => first.commit(auditOps(entries)))
  const retentions: Loop[] = []
  return {
    stores,
    async record(entry, durable = true) {
      const database = entry.brand === undefined ? first : databaseOf(entry.brand)
      await database.commit(auditOps([entry]), { durable })
    },
    refusedKeys,
    start(keptMs = auditKeptByDefaultMs) {
      for (const { database } of stores) {
        const loop = createRetention([{ keptMs, forget: (before) => forgetAudit(database, before) }])
        retentions.push(loop)
        loop.start()
      }
    },
    async stop() {
      await Promise.all(retentions.map((loop) => loop.stop()))
      await refusedKeys.stop()
    },
  }
}
