// The real operator, with a provider that accepts at once. argv: the store ('sqlite:…', 'postgres://…'), or 'none' for the same
// routes with messages that go directly to the provider.

import { createAcceptedKeys } from '../../src/base/http/accepted-keys.ts'
import { createHttp, type Handler, listen } from '../../src/base/http/http.ts'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import { operatorLimits } from '../../src/sides/operator/options.ts'
import { sendRoutes } from '../../src/sides/operator/send-routes.ts'
import type { Provider } from '../../src/subjects/providers/provider.ts'
import { benchKey } from '../harness/bench-key.ts'
import { handleCalls } from '../harness/handle-calls.ts'

const accepts: Provider = {
  name: 'accepts',
  max: 1_000,
  send: async (messages) => messages.map(({ ref }) => ({ category: 'successful', ref, rule: 'accepted' })),
}
const keys = [{ name: 'bench', key: benchKey, brands: ['1', '2'] }]

const [store = 'none'] = process.argv.slice(2)
const { url } = await listen('operator', store === 'none' ? await withoutStore() : await withStore())
handleCalls({ port: () => Number(new URL(url).port) })

async function withStore(): Promise<Handler> {
  const operator = createOperator({
    store,
    keys,
    push: accepts,
    suppression: 'none',
  })
  await operator.start()
  return operator.handler
}

async function withoutStore(): Promise<Handler> {
  const app = createHttp('operator', operatorLimits.bodyBytes)
  const { signal } = new AbortController()
  sendRoutes(app, {
    keys: createAcceptedKeys(keys),
    paths: {
      push: {
        send: (messages, { deadline }) => accepts.send(messages, { deadline, signal }),
        refuse: async (messages, refusal) => messages.map(() => refusal),
      },
    },
    limits: operatorLimits,
    signal,
  })
  await app.ready()
  return app.routing
}
