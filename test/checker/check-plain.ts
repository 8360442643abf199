// Runs the checks of an operator against the plain operator, or a mutant of it.

import type { Pace } from '../../src/tools/checker/facts.ts'
import { operatorChecks } from '../../src/tools/checker/operator/checks.ts'
import { prepareRun, type RunOptions } from '../../src/tools/checker/run.ts'
import type { Outcome } from '../../src/tools/checker/run-steps.ts'
import { batchMax, failingField, key, type Mutation, startPlainOperator, users } from './plain-operator.ts'

export const allChecks = operatorChecks.flatMap(({ checks }) => checks)

/** Short times for tests. The timeout is long, because only a fault reaches it. */
export const pace = { timeout: 5_000, slow: 400, giveUp: 5, retryPause: 20, patience: 400, quiet: 0 }

export const facts = {
  brand: '1',
  users,
  known: {
    [users.normal]: { blocked: false, consent_push_notification: true },
    [users.blocked]: { blocked: true, consent_push_notification: false },
  },
  content: { title: 'A check', body: 'Please ignore' },
  batchMax,
  batchMaxAgreed: true,
  fields: ['blocked', 'excluded', 'consent_push_notification'],
  failingField,
  pace,
} as const

/** Half of the endpoints: enough for a fault that both channels have. */
export const onePushChannel = ['push.single', 'push.batch', 'reconciliation'] as const

/** Duration of a delivery for faults that show while a message is in flight: a busy machine delays no event for as long. */
export const longDeliveryMs = 300

export const withPace = (other: Partial<Pace>) => ({ facts: { ...facts, pace: { ...pace, ...other } } })

export async function checkPlain(mutation?: Mutation, options: Partial<RunOptions> = {}): Promise<Outcome> {
  const operator = await startPlainOperator(mutation)
  try {
    const prepared = await prepareRun({
      url: operator.url,
      key,
      checks: allChecks,
      facts: { ...facts, restart: operator.restart },
      rules: 'bellwire',
      mostMessages: 5_000,
      ...options,
    })
    return await prepared.run()
  } finally {
    operator.stop()
  }
}

/** The ids of the failed checks, without repetitions. */
export const failedChecks = ({ results }: Outcome): readonly string[] => [
  ...new Set(results.filter(({ status }) => status === 'failed').map(({ check }) => check.id)),
]
