// The platform of a proof: both channels of both brands, in batch mode.

import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import type { Provider } from '../../src/subjects/providers/provider.ts'
import { adminKey, apiKeys, type PlatformPlan, readPlan } from '../plans.ts'
import { serveUntilSignal } from './serve-until-signal.ts'

type CreateProvider = ReturnType<typeof operatorApi>

const plan = readPlan<PlatformPlan>()
const platform = createPlatform({
  store: plan.store,
  keys: [
    { name: 'proof', key: adminKey, scopes: ['enqueue', 'counts', 'read', 'decide', 'attributes', 'people', 'backup'] },
  ],
  lanes: Object.keys(apiKeys).flatMap((brand) =>
    (['push', 'site'] as const).map((channel) => ({
      mode: 'batch' as const,
      ...plan.lane,
      brand,
      channel,
      provider: roundRobin(plan.operators.map((url) => toOperator(url, brand))),
    })),
  ),
})
await serveUntilSignal('platform', platform, plan.port)

function toOperator(url: string, brand: string): CreateProvider {
  return operatorApi({ url, apiKey: apiKeys[brand] as string })
}

/** Like a load balancer: a message that is sent again may reach another process of the operator. */
function roundRobin(creators: readonly CreateProvider[]): CreateProvider {
  return (lane) => {
    const providers = creators.map((create) => create(lane))
    let next = 0
    return {
      ...(providers[0] as Provider),
      send: (messages, context) => (providers[next++ % providers.length] as Provider).send(messages, context),
    }
  }
}
