import { appGroup } from '../../base/http/app-access.ts'
import { type Documents, documentsDescribed } from '../../base/http/documents.ts'
import { healthDescribed } from '../../base/http/health.ts'
import { asyncApi } from '../../contract/documents/async-api.ts'
import type { DescribedRoute } from '../../contract/documents/described.ts'
import { operatorOperations } from '../../contract/documents/interface-operations.ts'
import { openApi } from '../../contract/documents/open-api.ts'
import { receiptGroup } from '../../subjects/status/provider-receipts.ts'
import type { AdminRoute } from '../admin/route.ts'

export interface OperatorDocuments {
  readonly admin: readonly AdminRoute[]
  readonly app: readonly DescribedRoute[]
  /** The routes by which the platform polls statuses. */
  readonly status: readonly DescribedRoute[]
  readonly receipts: readonly DescribedRoute[]
  readonly publicUrl?: string | undefined
}

/** Describes only the routes that this configuration serves. Any other route would answer 404. */
export function operatorDocuments({ admin, app, status, receipts, publicUrl }: OperatorDocuments): Documents {
  return {
    asyncApi: () => asyncApi('operator'),
    openApi: () =>
      openApi({
        title: "The operator's API",
        description:
          'The endpoints that the platform calls, and the endpoints for the operator itself. Every error response has a JSON body in which `error` says what is wrong and what to do.',
        operations: operatorOperations,
        publicUrl,
        groups: [
          ...appGroup(app),
          ...(status.length > 0
            ? [
                {
                  tag: 'Delivery status',
                  says: 'For the platform, with the API key of the send endpoints. A key sees the statuses of its brands only.',
                  security: 'ApiKey' as const,
                  isPublic: true as const,
                  routes: status,
                },
              ]
            : []),
          ...receiptGroup('operator.status.receipts_from', receipts),
          {
            tag: 'Administration',
            says: "For the operator's own services and staff. A key that is limited to some brands sees the data of these brands only.",
            security: 'ApiKey',
            routes: admin,
          },
          { tag: 'Process', says: 'Public: no key is needed.', routes: [...healthDescribed, ...documentsDescribed] },
        ],
      }),
  }
}
