// The platform of a proof: both channels of both brands, in batch mode.

import { createPlatform } from '../../src/platform/create-platform.ts'
import { operatorApi } from '../../src/providers/operator-api.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { adminKey, apiKeys, type PlatformPlan, readPlan } from '../plans.ts'
import { serveUntilSignal } from './serve-until-signal.ts'

type ForLane = ReturnType<typeof operatorApi>

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
      provider: inTurn(plan.operators.map((url) => toOperator(url, brand))),
    })),
  ),
})
await serveUntilSignal('platform', platform, plan.port)

function toOperator(url: string, brand: string): ForLane {
  return operatorApi({ url, apiKey: apiKeys[brand] as string })
}

/** As a load balancer would: the same message may reach another process of the operator when it is sent again. */
function inTurn(made: readonly ForLane[]): ForLane {
  return (lane) => {
    const providers = made.map((make) => make(lane))
    let next = 0
    return {
      ...(providers[0] as Provider),
      send: (messages, context) => (providers[next++ % providers.length] as Provider).send(messages, context),
    }
  }
}
