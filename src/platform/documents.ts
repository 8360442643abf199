import { asyncApi } from '../contract/documents/async-api.ts'
import { platformOperations } from '../contract/documents/interface-operations.ts'
import { openApi } from '../contract/documents/open-api.ts'
import type { AdminRoute } from '../http/admin-access.ts'
import { type Documents, documentsDescribed } from '../http/documents.ts'
import { healthDescribed } from '../http/health.ts'

/** What this platform serves. */
export function platformDocuments(admin: readonly AdminRoute[], publicUrl: string | undefined): Documents {
  return {
    asyncApi: () => asyncApi('platform'),
    openApi: () =>
      openApi({
        title: "The platform's API",
        description:
          'What operators call at {platform_url} (§4.2), and beside it what the platform calls itself. Paragraphs (§) and rows are those of the interface and of its open points. Every refusal has the body of §2.3: `error` says what is wrong and what to do.',
        operations: platformOperations,
        publicUrl,
        groups: [
          {
            tag: 'Administration',
            says: "For the platform's own services and people. A key that is bound to brands sees only theirs.",
            security: 'ApiKey',
            routes: admin,
          },
          { tag: 'Process', says: 'Open to anybody.', routes: [...healthDescribed, ...documentsDescribed] },
        ],
      }),
  }
}
