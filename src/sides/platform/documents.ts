import { appGroup } from '../../base/http/app-access.ts'
import { type Documents, documentsDescribed } from '../../base/http/documents.ts'
import { healthDescribed } from '../../base/http/health.ts'
import { asyncApi } from '../../contract/documents/async-api.ts'
import type { DescribedRoute } from '../../contract/documents/described.ts'
import { platformOperations } from '../../contract/documents/interface-operations.ts'
import { openApi } from '../../contract/documents/open-api.ts'
import { receiptGroup } from '../../subjects/status/provider-receipts.ts'
import type { AdminRoute } from '../admin/route.ts'

/** The API documents of this platform. */
export interface PlatformDocuments {
  readonly admin: readonly AdminRoute[]
  readonly app: readonly DescribedRoute[]
  readonly receipts: readonly DescribedRoute[]
  readonly publicUrl?: string | undefined
}

/** Describes only the routes that this configuration serves. */
export function platformDocuments({ admin, app, receipts, publicUrl }: PlatformDocuments): Documents {
  return {
    asyncApi: () => asyncApi('platform'),
    openApi: () =>
      openApi({
        title: "The platform's API",
        description:
          'The endpoints that operators call at {platform_url} (§4.2), and the endpoints for the platform itself. § refers to a section of the interface, row to its open points. Every error response has the body of §2.3: `error` says what is wrong and what to do.',
        operations: platformOperations,
        publicUrl,
        groups: [
          ...appGroup(app),
          ...receiptGroup('platform.own.status.receipts_from', receipts),
          {
            tag: 'Administration',
            says: "For the platform's own services and staff. A key that is limited to some brands sees the data of these brands only.",
            security: 'ApiKey',
            routes: admin,
          },
          { tag: 'Process', says: 'Public: no key is needed.', routes: [...healthDescribed, ...documentsDescribed] },
        ],
      }),
  }
}
