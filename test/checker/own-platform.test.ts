// Our own platform passes every check on each engine, with one channel in batches and the other in single messages, and vice versa.

import assert from 'node:assert/strict'
import { openPlatformRun } from '../../src/checker/platform/prepare.ts'
import type { LaneOptions } from '../../src/platform/options.ts'
import { operatorApi } from '../../src/providers/operator-api.ts'
import { onEachEngine } from '../support/engines.ts'
import { adminKey, startPlatform } from '../support/sides.ts'
import { allPlatformChecks, platformFacts, platformPace } from './check-plain-platform.ts'

const key = 'the-key-of-the-operator'
const timeoutMs = 3_000

for (const modes of [
  { push: 'batch', site: 'single' },
  { push: 'single', site: 'batch' },
] as const)
  onEachEngine(`our platform passes every check: push ${modes.push}, on-site ${modes.site}`, async (t, store) => {
    const opened = await openPlatformRun({
      host: '127.0.0.1',
      port: 0,
      key,
      checks: allPlatformChecks,
      facts: {
        ...platformFacts,
        platformTimeout: timeoutMs,
        pace: { ...platformPace, patience: 20_000, quiet: 250 },
      },
      rules: 'bellwire',
      mostMessages: 5_000,
      async enqueue({ channel, records }) {
        const answer = await fetch(`${platform.url}/admin/activities/${channel}`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-ndjson', 'x-api-key': adminKey.key },
          body: records.map(({ text }) => `${text}\n`).join(''),
        })
        const { accepted } = (await answer.json()) as { accepted: number }
        assert.equal(accepted, records.length)
      },
    })
    t.after(() => opened.close())
    const lanes = (['push', 'site'] as const).map(
      (channel): LaneOptions => ({
        brand: '1',
        channel,
        mode: modes[channel],
        max: platformFacts.batchMax,
        spanMs: 50,
        timeoutMs,
        retry: { firstMs: 50, mostMs: 500 },
        provider: operatorApi({ url: opened.url, apiKey: key }),
      }),
    )
    const platform = await startPlatform(t, { store, lanes })
    const { results, stopped } = await (await opened.prepare()).run()
    assert.equal(stopped, undefined)
    const others = results.filter(({ status }) => status !== 'passed' && status !== 'not_applicable')
    assert.deepEqual(
      others.map(({ check, target, status, seen }) => `${check.id} (${target.name}) ${status}: ${seen}`),
      [],
    )
  })
