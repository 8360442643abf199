// A platform with many lanes. Its provider appends each message to the witness file before it answers, with
// its process and the time. To each message of the proof it replies with the number of statements of each name that it has sent to PostgreSQL.

import { appendFileSync } from 'node:fs'
import pg from 'pg'
import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import type { Provider } from '../../src/subjects/providers/provider.ts'
import { adminKey, type LanePlan, readPlan } from '../plans.ts'
import { serveUntilSignal } from './serve-until-signal.ts'

const plan = readPlan<LanePlan>()
const { mode = 'batch', concurrency = 4, callMs = 5 } = plan
const provider: Provider = {
  name: 'witness',
  max: 100,
  async send(messages) {
    appendFileSync(
      plan.witness,
      messages.map(({ brand, id }) => `${brand}/${id} ${process.pid} ${Date.now()}\n`).join(''),
    )
    if (callMs > 0) await new Promise((resolve) => setTimeout(resolve, callMs))
    return messages.map(({ ref }) => ({ category: 'successful', ref, rule: 'recorded by the witness' }))
  },
}

const statements: Record<string, number> = {}
const { query } = pg.Client.prototype
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const [first] = args as [string | { readonly text: string }]
  const text = typeof first === 'string' ? first : first.text
  const name = /^\/\* (\w+)/.exec(text)?.[1] ?? text
  statements[name] = (statements[name] ?? 0) + 1
  return (query as (...args: unknown[]) => unknown).apply(this, args)
} as typeof query

const platform = createPlatform({
  store: plan.store,
  keys: [{ name: 'proof', key: adminKey, scopes: ['enqueue', 'counts', 'read', 'decide', 'attributes'] }],
  lanes: Array.from({ length: plan.brands }, (_, i) => String(i + 1)).flatMap((brand) =>
    (['push', 'site'] as const).map(
      (channel) => ({ mode, concurrency, spanMs: 20, brand, channel, provider }) as const,
    ),
  ),
})
await serveUntilSignal('platform', platform, plan.port)
process.send?.({ ready: {} })
process.on('message', () => process.send?.({ statements }))
