import { asyncApi } from '../contract/documents/async-api.ts'
import { operatorOperations } from '../contract/documents/interface-operations.ts'
import { openApi } from '../contract/documents/open-api.ts'
import { deviceAppDescribed } from '../devices/app-routes.ts'
import { inboxDescribed } from '../inbox/routes.ts'
import type { AdminRoute } from '../runtime/admin-access.ts'
import { type Documents, documentsDescribed } from '../runtime/documents.ts'
import { healthDescribed } from '../runtime/health.ts'

export interface OperatorDocuments {
  readonly admin: readonly AdminRoute[]
  /** Whether /app is served. */
  readonly app: boolean
  readonly publicUrl?: string | undefined
}

/** What this operator serves, no more: a document of another configuration would send readers to a 404. */
export function operatorDocuments({ admin, app, publicUrl }: OperatorDocuments): Documents {
  return {
    asyncApi: () => asyncApi('operator'),
    openApi: () =>
      openApi({
        title: "The operator's API",
        description:
          'What the platform calls at {base_url} (§4.1), and beside it what the operator calls itself. Paragraphs (§) and rows are those of the interface and of its open points. Every refusal has the body of §2.3: `error` says what is wrong and what to do.',
        operations: operatorOperations,
        publicUrl,
        groups: [
          ...(app
            ? [
                {
                  tag: 'Apps',
                  says: "For the operator's apps and pages, as the user who is signed in there.",
                  security: 'Bearer' as const,
                  routes: [...inboxDescribed, ...deviceAppDescribed],
                },
              ]
            : []),
          {
            tag: 'Administration',
            says: "For the operator's own services and people. A key that is bound to brands sees only theirs.",
            security: 'ApiKey',
            routes: admin,
          },
          { tag: 'Process', says: 'Open to anybody.', routes: [...healthDescribed, ...documentsDescribed] },
        ],
      }),
  }
}
