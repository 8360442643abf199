// The operator of the proof status-away: an inbox, whose statuses are sent to the platform by webhook.

import { createOperator } from '../../src/sides/operator/create-operator.ts'
import { statusWebhook } from '../../src/subjects/status/senders/webhook.ts'
import { adminKey, apiKeys, appSecret, readPlan } from '../plans.ts'
import { reportEvents } from './device-plan.ts'
import { serveUntilSignal } from './serve-until-signal.ts'
import type { StatusPlan } from './status-plan.ts'

reportEvents()
const plan = readPlan<StatusPlan>()
const operator = createOperator({
  store: plan.store,
  keys: Object.entries(apiKeys).map(([brand, key]) => ({ name: `brand ${brand}`, key, brands: [brand] })),
  adminKeys: [{ name: 'proof', key: adminKey, scopes: ['counts', 'read', 'decide', 'attributes'] }],
  suppression: 'none',
  site: 'inbox',
  app: { secrets: [appSecret] },
  status: {
    webhooks: Object.keys(apiKeys).map((brand) => ({
      brand,
      sender: statusWebhook({ url: plan.other, secrets: [plan.secret] }),
      retry: { firstMs: 100, mostMs: 1_000 },
    })),
  },
})
await serveUntilSignal('operator', operator, plan.port)
