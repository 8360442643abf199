// Runs the checks of a platform against the plain platform, or a mutant of it.

import { platformChecks } from '../../src/tools/checker/platform/checks.ts'
import { openPlatformRun, type PlatformRunOptions } from '../../src/tools/checker/platform/prepare.ts'
import type { Outcome } from '../../src/tools/checker/run-steps.ts'
import { correctEndpoints, linkKey, startEndpoints, statusSecret } from './plain-endpoints.ts'
import { correctRules, type Mode, type PlatformMutation, platformKey, startPlainPlatform } from './plain-platform.ts'

export const allPlatformChecks = platformChecks.flatMap(({ checks }) => checks)

/** Short times for tests. The patience is long, because only a fault reaches it. */
export const platformPace = { timeout: 5_000, slow: 300, giveUp: 0, retryPause: 20, patience: 1_500, quiet: 500 }

export const platformFacts = {
  brand: '1',
  users: { normal: 'user-1' },
  known: {},
  content: { title: 'A check', body: 'Please ignore' },
  batchMax: 10,
  batchMaxAgreed: true,
  platformTimeout: 1_500,
  batchSpan: 30,
  pace: platformPace,
} as const

export const bothModes = { push: 'batch', site: 'single' } as const

export async function checkPlainPlatform(
  mutate?: PlatformMutation,
  options: Partial<PlatformRunOptions> & { modes?: Readonly<Record<'push' | 'site', Mode>> } = {},
): Promise<Outcome> {
  const rules = { ...correctEndpoints, ...mutate?.(correctRules).endpoints }
  const endpoints = await startEndpoints(rules, (ref) => platform.knows(ref))
  const opened = await openPlatformRun({
    host: '127.0.0.1',
    port: 0,
    key: platformKey,
    checks: allPlatformChecks,
    facts: {
      ...platformFacts,
      failedActions: async () => platform.failedActions.join('\n'),
      reconcile: (field) => platform.reconcile(field),
      restart: () => platform.restart(),
      platform: { url: endpoints.url, linkKey, statusSecret },
      links: [
        {
          name: 'a queue',
          publish: async (what, _, body) => refusalOf(endpoints.takeLink(what, body)),
          linkWithHeader: async (_, body) =>
            refusalOf(endpoints.takeLink(rules.ignoresHeaders ? 'link' : 'unlink', body)),
          close: async () => {},
        },
      ],
      devices: async (userId) => endpoints.devices(userId),
    },
    rules: 'bellwire',
    mostMessages: 5_000,
    enqueue: async ({ channel, records }) =>
      platform.enqueue(
        channel,
        records.map(({ text }) => text),
      ),
    ...options,
  })
  const platform = startPlainPlatform({ url: opened.url, modes: options.modes ?? bothModes, mutate })
  try {
    const prepared = await opened.prepare()
    return await prepared.run()
  } finally {
    await opened.close()
    await platform.stop()
    endpoints.stop()
  }
}

const refusalOf = (status: number): string | undefined => (status === 200 ? undefined : `status ${status}`)
