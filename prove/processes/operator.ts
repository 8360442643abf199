// The operator of a proof, with its own store. The witness is its push provider, or the push service of one device per user.

import { createOperator } from '../../src/sides/operator/create-operator.ts'
import { httpSource } from '../../src/subjects/attributes/http.ts'
import type { DevicePublisher } from '../../src/subjects/devices/device-publisher.ts'
import { adminKey, apiKeys, appSecret, type OperatorPlan, readPlan } from '../plans.ts'
import { serveUntilSignal } from './serve-until-signal.ts'
import { nobodyBlocked, oneBlocked } from './suppression.ts'
import { content, oneDevicePerUser, provider, service } from './witness-provider.ts'

/** Accepts each link and unlink of a device. */
const readerOfEverything: DevicePublisher = {
  name: 'reader',
  max: 100,
  concurrency: 1,
  publish: async (messages) => messages.map(({ id }) => ({ category: 'successful', ref: id, rule: 'accepted' })),
  close: async () => {},
}

const plan = readPlan<OperatorPlan>()
const operator = createOperator({
  store: plan.store,
  keys: Object.entries(plan.keys ?? apiKeys).map(([brand, key]) => ({ name: `brand ${brand}`, key, brands: [brand] })),
  adminKeys: [
    {
      name: 'proof',
      key: adminKey,
      scopes: ['counts', 'read', 'decide', 'attributes', 'tokens', 'devices', 'people', 'backup'],
    },
  ],
  push: plan.devices ? { devices: { source: oneDevicePerUser, services: [service] } } : provider,
  content,
  site: 'inbox',
  attributes: plan.attributes
    ? httpSource({ url: plan.attributes, fields: ['excluded'] })
    : plan.oneBlocked
      ? oneBlocked
      : nobodyBlocked,
  app: { secrets: [appSecret] },
  ...(plan.limits && { limits: plan.limits }),
  ...(plan.people && { status: {}, publish: [{ brand: '1', publisher: readerOfEverything }] }),
})
await serveUntilSignal('operator', operator, plan.port)
