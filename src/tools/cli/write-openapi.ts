// Writes the OpenAPI documents of both sides, with all optional routes, into the package. Run by `npm run build`.

import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { Service } from '../../base/http/service.ts'
import { listenAt } from '../../base/runtime/local-server.ts'
import { createOperator } from '../../sides/operator/create-operator.ts'
import { createPlatform } from '../../sides/platform/create-platform.ts'
import type { PushOptions } from '../../subjects/delivery/compose.ts'
import type { Provider } from '../../subjects/providers/provider.ts'
import type { PushService } from '../../subjects/providers/push-service.ts'

const secret = 'only-for-the-documents-and-never-served'
const app = { secrets: [secret], origins: [] }
const receipt = {
  name: 'provider',
  header: 'x-secret',
  secret,
  id: '/id',
  rules: [{ at: '/event', equals: 'opened', status: 'opened' as const }],
}
const service: PushService = {
  name: 'push',
  concurrency: 1,
  reaches: () => true,
  send: () => Promise.reject(new Error('this side only describes its routes')),
}
const provider: Provider = { name: 'provider', max: 1, send: async () => [] }
const store = 'sqlite::memory:'
const push: PushOptions = { devices: { source: 'registry', services: [service] } }

/** The documents of both sides. They name no server, because each installation has its own address. */
export async function openApiDocuments(): Promise<Readonly<Record<'operator' | 'platform', object>>> {
  return {
    operator: await documentOf(
      createOperator({
        store,
        keys: [{ name: 'platform', key: secret, brands: ['1'] }],
        push,
        site: 'inbox',
        app,
        status: { receiptsFrom: [receipt] },
        suppression: 'none',
      }),
    ),
    platform: await documentOf(
      createPlatform({
        store,
        keys: [{ name: 'backend', key: secret, scopes: ['counts', 'read'] }],
        lanes: [
          { brand: '1', channel: 'push', mode: 'batch', provider, status: { secrets: [`whsec_${btoa(secret)}`] } },
          { brand: '1', channel: 'site', mode: 'batch', provider: 'own' },
        ],
        own: { push, site: 'inbox', app, receiptsFrom: [receipt], suppression: 'none' },
      }),
    ),
  }
}

async function documentOf(side: Service): Promise<object> {
  await side.start()
  const server = createServer(side.admin.handler)
  try {
    const answer = await fetch(`${await listenAt(server)}/openapi.json`)
    const { servers: _, ...document } = (await answer.json()) as { readonly servers: unknown }
    return document
  } finally {
    server.close()
    await side.stop(0)
  }
}

if (import.meta.main)
  for (const [side, document] of Object.entries(await openApiDocuments()))
    await writeFile(
      fileURLToPath(new URL(`../../../dist/openapi-${side}.json`, import.meta.url)),
      `${JSON.stringify(document, null, 2)}\n`,
    )
