// The platform of a proof: both channels of both brands, in batch mode.

import { createPlatform } from '../../src/platform/create-platform.ts'
import { operatorApi } from '../../src/providers/operator-api.ts'
import type { Channel, Provider } from '../../src/providers/provider.ts'
import { listen } from '../../src/runtime/http.ts'
import { adminKey, apiKeys, type PlatformPlan, readPlan } from '../plans.ts'

const plan = readPlan<PlatformPlan>()
const platform = createPlatform({
  store: plan.store,
  keys: [{ name: 'proof', key: adminKey, scopes: ['enqueue', 'read', 'manage'] }],
  lanes: Object.keys(apiKeys).flatMap((brand) =>
    (['push', 'site'] as const).map((channel) => ({
      mode: 'batch' as const,
      ...plan.lane,
      brand,
      channel,
      provider: inTurn(plan.operators.map((baseUrl) => toOperator(baseUrl, brand, channel))),
    })),
  ),
})
await platform.start()
await listen('platform', platform.handler, { port: plan.port })

function toOperator(baseUrl: string, brand: string, channel: Channel): Provider {
  return operatorApi({ baseUrl, apiKey: apiKeys[brand] as string, channel, mode: plan.lane?.mode ?? 'batch' })
}

/** As a load balancer would: the same message may reach another process of the operator when it is sent again. */
function inTurn(providers: readonly Provider[]): Provider {
  let next = 0
  return {
    ...(providers[0] as Provider),
    send: (messages, context) => (providers[next++ % providers.length] as Provider).send(messages, context),
  }
}
