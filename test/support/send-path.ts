import { createSendPath, type SendPath } from '../../src/delivery/send-path.ts'
import type { Provider, Wrap } from '../../src/providers/provider.ts'
import type { Database } from '../../src/store/database.ts'

/** A send path with limits that are in nobody's way; nobody is suppressed unless `suppress` says so. */
export const pathTo = (
  database: Database,
  provider: Provider,
  suppress: Wrap = (inner) => inner,
  limits: { readonly concurrency?: number; readonly inProgress?: number } = {},
): SendPath =>
  createSendPath({ database, provider, suppress, concurrency: 100, inProgress: 100, workMs: 30_000, ...limits })
