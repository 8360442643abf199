// Our own platform passes every check on each engine, with one channel in batches and the other in single messages, and vice versa.

import assert from 'node:assert/strict'
import { openPlatformRun } from '../../src/checker/platform/prepare.ts'
import type { LaneOptions } from '../../src/platform/options.ts'
import { operatorApi } from '../../src/providers/operator-api.ts'
import { onEachEngine } from '../support/engines.ts'
import { adminKey, get, post, startPlatform } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { allPlatformChecks, platformFacts, platformPace } from './check-plain-platform.ts'

const key = 'the-key-of-the-operator'
const timeoutMs = 3_000

async function text(url: string): Promise<string> {
  const response = await fetch(url, { headers: { 'x-api-key': adminKey.key } })
  return response.text()
}

/** @returns whether the list was used */
async function reconcile(url: string, field: string): Promise<boolean> {
  const { body } = await post(`${url}/admin/reconciliations`, { brand: '1', field }, adminKey.key)
  const ended = await until(
    async () => {
      const { body: run } = await get(`${url}/admin/reconciliations/${(body as { run: string }).run}`)
      return (run as { ended_at: string | null }).ended_at === null ? undefined : run
    },
    { withinMs: 60_000, awaited: 'the end of the run' },
  )
  return (ended as { refused: unknown }).refused === null
}

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
        failedActions: () => text(`${platform.url}/admin/failed.csv`),
        reconcile: (field) => reconcile(platform.url, field),
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
    const reconciliation = [{ brand: '1', url: opened.url, apiKey: key, fields: ['blocked' as const] }]
    const platform = await startPlatform(t, { store, lanes, reconciliation })
    const { results, stopped } = await (await opened.prepare()).run()
    assert.equal(stopped, undefined)
    const others = results.filter(({ status }) => status !== 'passed' && status !== 'not_applicable')
    assert.deepEqual(
      others.map(({ check, target, status, seen }) => `${check.id} (${target.name}) ${status}: ${seen}`),
      [],
    )
  })
