// For `node --test --test-global-setup=test/support/services/global-setup.ts`: starts the services once for all test files,
// which find them in the environment. A test file that is run alone starts what it needs itself.

import { chromiumService } from './chromium.ts'
import { firefoxService } from './firefox.ts'
import { kafkaService } from './kafka.ts'
import { postgresService } from './postgres.ts'
import { rabbitmqService } from './rabbitmq.ts'
import { share } from './service.ts'

let shared: Awaited<ReturnType<typeof share>>[] = []

/** Rejects where CI is set and a service cannot be had: the run fails, and says which. */
export async function globalSetup(): Promise<void> {
  const services = [postgresService, chromiumService, firefoxService, rabbitmqService, kafkaService]
  const started = await Promise.allSettled(services.map(share))
  shared = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = started.find((one) => one.status === 'rejected')
  if (!failed) return
  await globalTeardown()
  throw failed.reason
}

export async function globalTeardown(): Promise<void> {
  for (const { stop } of shared) await stop()
  // The run's very last lines, after any reporter's summary.
  process.once('exit', () => {
    for (const { last } of shared) if (last) console.error(`\n${last}`)
  })
}
