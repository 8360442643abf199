import type { Delivery } from '../../src/delivery/delivery.ts'
import { createSendPath, type SendPath, type SendPathOptions } from '../../src/delivery/send-path.ts'
import { throughProvider } from '../../src/delivery/through-provider.ts'
import type { Provider } from '../../src/providers/provider.ts'
import type { Database } from '../../src/store/database.ts'

/** A send path with limits that no test reaches. No user is suppressed, except by `checkMessage`. */
export const pathTo = (
  database: Database,
  to: Provider | Delivery,
  checkMessage?: SendPathOptions['checkMessage'],
  { concurrency = 100, inProgress = 100 }: { readonly concurrency?: number; readonly inProgress?: number } = {},
): SendPath =>
  createSendPath({
    database,
    delivery: 'deliver' in to ? to : throughProvider(to, concurrency),
    checkMessage,
    inProgress,
    workMs: 30_000,
  })
