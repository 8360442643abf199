// The real operator. Its registry has one device for each of a thousand users of two brands. argv: the store, and the target as JSON.

import { listen } from '../../src/base/http/http.ts'
import { chain } from '../../src/base/http/mount.ts'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import { eventsOf } from '../../src/subjects/devices/device-event.ts'
import { benchKey } from '../harness/bench-key.ts'
import { handleCalls } from '../harness/handle-calls.ts'
import { deviceOf, type PushTarget, serviceFor, tokensOf } from '../harness/push-target.ts'

const [store = '', json = ''] = process.argv.slice(2)
const target = JSON.parse(json) as PushTarget
const operator = createOperator({
  store,
  keys: [{ name: 'bench', key: benchKey, brands: ['1', '2'] }],
  push: { devices: { source: 'registry', services: [serviceFor(target)] } },
  suppression: 'none',
})
await operator.start()
const events = tokensOf(target, 2_000).flatMap((token, n) => {
  const { kind, environment } = deviceOf(target, token)
  const userId = String((n >> 1) + 1).padStart(4, '0')
  const tokens = [{ token, kind, provider: target.kind, ...(environment && { environment }) }]
  const read = eventsOf(
    { user_id: userId, tokens, skip_publishing: true },
    { what: 'link', brand: String((n % 2) + 1) },
  )
  if ('invalid' in read) throw new Error(read.invalid)
  return read
})
await operator.devices.storeEvents(events)
const { url } = await listen('operator', chain(operator.handler, operator.admin.handler))
handleCalls({ port: () => Number(new URL(url).port) })
