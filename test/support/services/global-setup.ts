// For test/run.ts: starts each service once for all test files, which read its address from the environment. Without it, a test file
// starts its services itself.

import { chromiumService } from './chromium.ts'
import { caddyService, nghttpdService, nginxService, promtoolService } from './debian-programs.ts'
import { faketimeService } from './faketime.ts'
import { firefoxService } from './firefox.ts'
import { goService } from './go.ts'
import { kafkaService } from './kafka.ts'
import { kubernetesValidateService } from './kubernetes-validate.ts'
import { pgbouncerService } from './pgbouncer.ts'
import { postgresService } from './postgres.ts'
import { rabbitmqService } from './rabbitmq.ts'
import { share } from './service.ts'

let shared: Awaited<ReturnType<typeof share>>[] = []

/** Rejects if CI is set and a service is unavailable: the run then fails with its name. */
export async function globalSetup(): Promise<void> {
  const brokers = [rabbitmqService, kafkaService]
  const programs = [
    goService,
    nghttpdService,
    nginxService,
    pgbouncerService,
    promtoolService,
    caddyService,
    kubernetesValidateService,
    faketimeService,
  ]
  const services = [postgresService, chromiumService, firefoxService, ...brokers, ...programs]
  const started = await Promise.allSettled(services.map(share))
  shared = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = started.find((one) => one.status === 'rejected')
  if (!failed) return
  await globalTeardown()
  throw failed.reason
}

export async function globalTeardown(): Promise<void> {
  for (const { stop } of shared) await stop()
  // Printed at exit, after the summary of any test reporter.
  process.once('exit', () => {
    for (const { warning } of shared) if (warning) console.error(`\n${warning}`)
  })
}
