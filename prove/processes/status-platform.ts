// The platform of the proof status-away: it sends on-site messages, and takes the statuses that the operator reports.

import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { adminKey, apiKeys, readPlan } from '../plans.ts'
import { reportEvents } from './device-plan.ts'
import { serveUntilSignal } from './serve-until-signal.ts'
import type { StatusPlan } from './status-plan.ts'

reportEvents()
const plan = readPlan<StatusPlan>()
const platform = createPlatform({
  store: plan.store,
  keys: [{ name: 'proof', key: adminKey, scopes: ['enqueue', 'counts', 'read', 'decide', 'attributes'] }],
  lanes: Object.entries(apiKeys).map(([brand, apiKey]) => ({
    brand,
    channel: 'site' as const,
    mode: 'batch' as const,
    provider: operatorApi({ url: plan.other, apiKey }),
    status: { secrets: [plan.secret] },
  })),
})
await serveUntilSignal('platform', platform, plan.port)
