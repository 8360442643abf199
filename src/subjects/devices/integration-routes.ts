// §4.2: the routes that operators call at {platform_url}.

import type { FastifyInstance } from 'fastify'
import type { AcceptedKeys } from '../../base/http/accepted-keys.ts'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { keyAuthentication } from '../../base/http/key-authentication.ts'
import { addRoute } from '../../base/http/route.ts'
import { DeviceAnswer, DeviceEventRecord, mostRecordBytes } from '../../contract/device-events.ts'
import { deviceLink, deviceUnlink } from '../../contract/endpoints.ts'
import type { Judge } from './device-event.ts'
import type { Registry } from './registry.ts'
import { storeRecord } from './store-record.ts'

export interface DeviceIntegration {
  /** The registry of a brand. */
  readonly registryOf: (brand: string) => Pick<Registry, 'storeEvents'>
  /** Keys with the scope `devices`, each bound to exactly one brand. A record names no brand, so the key decides (row 31). */
  readonly keys: AcceptedKeys<AccessKey>
  readonly judge?: Judge | undefined
}

/** Row 19: 200 with `{accepted}` once the record is on disk, 400 for an unreadable record, 401 for an unknown key. */
export function deviceIntegrationRoutes(app: FastifyInstance, { registryOf, keys, judge }: DeviceIntegration): void {
  const unknown = 'the API key is missing or unknown: send the key that the platform gave you in the header X-Api-Key'
  const access = {
    ...keyAuthentication({
      keys,
      missing: unknown,
      unknown,
      acceptsAuthorization: true,
      check: onlyBrandOf,
    }),
    bodyLimit: mostRecordBytes,
  }
  for (const [what, { method, path: url, purpose: says }] of [
    ['link', deviceLink],
    ['unlink', deviceUnlink],
  ] as const) {
    addRoute(
      app,
      {
        method,
        url,
        says,
        body: DeviceEventRecord,
        gives: DeviceAnswer,
        async handler({ body }, key) {
          const brand = onlyBrandOf(key)
          const { accepted } = await storeRecord(body, brand, { registry: registryOf(brand), what, judge })
          return { accepted }
        },
      },
      access,
    )
  }
}

/** @throws HttpError 403 if the key lacks the scope `devices` or is not bound to exactly one brand */
function onlyBrandOf(key: AccessKey): string {
  if (!key.scopes.includes('devices'))
    throw new HttpError(403, `the key ${key.name} lacks the scope devices: add it in the configuration`)
  const [brand, ...others] = key.brands ?? []
  if (brand !== undefined && others.length === 0) return brand
  throw new HttpError(403, `the key ${key.name} must be bound to exactly one brand: add brands: [1] to it`)
}
