import type { Database } from '../../src/base/store/database.ts'
import type { Delivery } from '../../src/subjects/delivery/delivery.ts'
import { createSendPath, type SendPath, type SendPathOptions } from '../../src/subjects/delivery/send-path.ts'
import { throughProvider } from '../../src/subjects/delivery/through-provider.ts'
import type { Provider } from '../../src/subjects/providers/provider.ts'

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
