// A key with one scope reaches the routes of this scope, and no others.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { allScopes } from '../../src/base/http/access.ts'
import { witnessService } from '../support/push-services.ts'
import { startOperator, startPlatform } from '../support/sides.ts'

const onBothSides = {
  counts: [
    'GET /admin/failed/summary',
    'GET /admin/lanes',
    'GET /admin/summary',
    'GET /admin/devices/removals',
    'GET /admin/services',
  ],
  read: [
    'GET /admin/devices',
    'GET /admin/devices/removed',
    'GET /admin/failed',
    'GET /admin/failed.csv',
    'GET /admin/failed/{seq}',
    'GET /admin/messages',
    'GET /admin/permission.csv',
    'GET /admin/permission/check',
    'POST /admin/permission/check',
  ],
  decide: [
    'GET /admin/lanes/cancellations',
    'POST /admin/devices/removals/confirm',
    'POST /admin/failed/dismiss',
    'POST /admin/failed/replay',
    'POST /admin/lanes/cancel',
    'POST /admin/lanes/cancel/preview',
    'POST /admin/lanes/pause',
    'POST /admin/lanes/resume',
    'POST /admin/lanes/settings',
    'POST /admin/lanes/settings/reset',
  ],
  reload: ['POST /admin/reload'],
  backup: ['GET /admin/backup'],
  keys: ['POST /admin/keys', 'POST /admin/keys/revoke'],
  people: [
    'GET /admin/people/{brand}/{user}',
    'POST /admin/people/erase',
    'POST /admin/people/erase/preview',
    'GET /admin/people/erasures',
    'GET /admin/people/erasures/{id}',
  ],
  audit: [
    'GET /admin/audit',
    'GET /admin/audit.ndjson',
    'GET /admin/audit/verify',
    'GET /admin/keys',
    'GET /admin/settings',
  ],
  tokens: ['POST /admin/subscriber-tokens', 'POST /admin/subscriber-tokens/revoke'],
} as const

type Routes = Readonly<Record<string, readonly string[]>>

const operatorRoutes: Routes = {
  ...onBothSides,
  read: [...onBothSides.read, 'GET /admin/messages/{ref}'],
  decide: [...onBothSides.decide, 'POST /admin/devices/restore'],
  devices: ['POST /admin/devices/link', 'POST /admin/devices/unlink'],
}

const platformRoutes: Routes = {
  ...onBothSides,
  enqueue: ['POST /admin/activities/{channel}'],
  counts: [
    ...onBothSides.counts,
    'GET /admin/consumers',
    'GET /admin/conversions',
    'GET /admin/conversions.csv',
    'GET /admin/reconciliations',
    'GET /admin/reconciliations/{run}',
    'POST /admin/outcomes',
  ],
  read: [
    ...onBothSides.read,
    'GET /admin/attributes/{brand}/{user}',
    'GET /admin/conversions/messages',
    'GET /admin/conversions/messages.csv',
    'GET /admin/messages/{seq}',
    'GET /admin/reconciliations/{run}/discrepancies',
    'GET /admin/reconciliations/{run}/export',
  ],
  decide: [
    ...onBothSides.decide,
    'POST /admin/reconciliations',
    'POST /admin/reconciliations/{run}/acknowledge',
    'POST /admin/reconciliations/{run}/correct',
  ],
  lanes: ['POST /admin/lanes/add', 'POST /admin/lanes/change', 'POST /admin/lanes/remove'],
  attributes: ['POST /admin/attributes/{brand}', 'POST /admin/attributes/{brand}/{user}'],
}

const keyOf = (scope: string): string => `the-key-with-the-scope-${scope}`
const keys = allScopes.map((scope) => ({ name: scope, key: keyOf(scope), scopes: [scope] }))

const configuration = { describe: () => ({ settings: [] }), reload: async () => ({ applied: [], restart: [] }) }
const push = { devices: { source: 'registry', services: [witnessService('fcm_token')] } } as const
const app = { secrets: ['a-secret-of-at-least-32-characters'], origins: [] }

for (const [side, table, start] of [
  ['operator', operatorRoutes, (t: TestContext) => startOperator(t, { adminKeys: keys, app, configuration, push })],
  [
    'platform',
    platformRoutes,
    (t: TestContext) =>
      startPlatform(t, {
        keys,
        configuration,
        storedLanes: { read: async () => [], apply: async () => {} },
        lanes: [{ brand: '1', channel: 'push', provider: 'own', mode: 'batch' }],
        own: { app, suppression: 'none', push },
      }),
  ],
] as const)
  test(`a key with one scope reaches only the routes of that scope: ${side}`, async (t) => {
    const { url } = await start(t)
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    }
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      path.startsWith('/admin') ? Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`) : [],
    )
    assert.deepEqual(Object.values(table).flat().sort(), served.sort(), 'the table has every route')
    for (const [owner, routes] of Object.entries(table))
      for (const route of routes)
        await Promise.all(
          allScopes.map(async (scope) => {
            const [method = '', path = ''] = route.replace(/\{\w+\}/g, '1').split(' ')
            const answer = await fetch(url + path, {
              method,
              headers: { 'x-api-key': keyOf(scope) },
              ...(method === 'POST' && { body: '' }),
            })
            const text = await answer.text()
            const refused = answer.status === 403 && text.includes(`the key ${scope} lacks the scope ${owner}`)
            assert.equal(refused, scope !== owner, `${route} with ${scope}: ${answer.status} ${text}`)
          }),
        )
  })
