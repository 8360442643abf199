// The platform of the proof storm: one push lane per brand, each with an operator of its own.

import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { adminKey, readPlan, type StormPlan } from '../plans.ts'
import { serveUntilSignal } from './serve-until-signal.ts'

const plan = readPlan<StormPlan>()
const platform = createPlatform({
  store: plan.store,
  keys: [{ name: 'proof', key: adminKey, scopes: ['enqueue', 'counts', 'read', 'decide', 'attributes'] }],
  lanes: Object.entries(plan.operators).map(([brand, { url, apiKey }]) => ({
    brand,
    channel: 'push',
    mode: 'batch',
    max: plan.max,
    spanMs: 20,
    retry: plan.retry,
    provider: operatorApi({ url, apiKey }),
  })),
})
await serveUntilSignal('platform', platform, plan.port)
process.send?.({ ready: {} })
