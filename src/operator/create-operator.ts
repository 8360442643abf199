// The operator's side: {base_url} of §4.1. Routes and composition only.

import { messageMigrations } from '../delivery/messages.ts'
import { forgetMessages } from '../delivery/retention.ts'
import { createSendPath, type SendPath } from '../delivery/send-path.ts'
import { createSuppression, type Suppression } from '../delivery/suppress.ts'
import { createInbox, inboxMigrations } from '../inbox/inbox.ts'
import { inboxRoutes } from '../inbox/routes.ts'
import { forgetNotifications } from '../inbox/store.ts'
import { callMigrations, forgetCalls } from '../providers/calls.ts'
import { guard } from '../providers/guard.ts'
import type { Channel, Provider } from '../providers/provider.ts'
import { adminRoutes } from '../runtime/admin-access.ts'
import { healthRoutes } from '../runtime/health.ts'
import { createHttp } from '../runtime/http.ts'
import { createRetention, keptByDefaultMs } from '../runtime/retention.ts'
import { type Composed, createService, type Service } from '../runtime/service.ts'
import type { Database, Migration } from '../store/database.ts'
import { openDatabase } from '../store/open-database.ts'
import { ping } from '../store/ping.ts'
import { operatorAdmin } from './admin.ts'
import { type OperatorOptions, operatorLimits } from './options.ts'
import { sendRoutes } from './send-routes.ts'

export const operatorMigrations: readonly Migration[] = [...messageMigrations, ...callMigrations, ...inboxMigrations]

export type Operator = Service

/**
 * An operator's API, ready to be mounted. Reads nothing from disk or environment but its store.
 *
 * @example
 * const operator = createOperator({
 *   store: 'sqlite:./operator.db',
 *   keys: [{ name: 'platform', key: process.env.API_KEY, brands: ['1'] }],
 *   push: myProvider, site: 'inbox', suppression: mySource,
 * })
 * await operator.start()
 * http.createServer(operator.handler).listen(8080)
 */
export function createOperator(options: OperatorOptions): Operator {
  const limits = { ...operatorLimits, ...options.limits }
  return createService('operator', (stopping) => compose(options, limits, stopping))
}

async function compose(
  options: OperatorOptions,
  limits: typeof operatorLimits,
  signal: AbortSignal,
): Promise<Composed> {
  const database = await openDatabase(options.store, { migrations: operatorMigrations })
  const suppression = options.suppression === 'none' ? undefined : createSuppression(options.suppression, signal)
  const site =
    options.site === 'inbox'
      ? createInbox({ database, ...(options.content && { content: options.content }) })
      : options.site
  const given: { [C in Channel]?: Provider | undefined } = { push: options.push, site }
  const paths: { [C in Channel]?: SendPath | undefined } = {
    push: given.push && pathTo(given.push, database, suppression, limits),
    site: given.site && pathTo(given.site, database, suppression, limits),
  }

  const brands = [...new Set(options.keys.flatMap((key) => key.brands))]
  const app = createHttp('operator', limits.bodyBytes)
  sendRoutes(app, { keys: options.keys, providers: paths, limits, signal })
  adminRoutes(
    app,
    options.adminKeys ?? [],
    operatorAdmin({
      database,
      brands,
      secret: options.app?.secrets[0],
    }),
  )
  if (options.app) {
    await app.register(inboxRoutes, {
      database,
      secrets: options.app.secrets,
      origins: options.app.origins ?? [],
      signal,
      allowed: async (brand: string, userId: string) => (await suppression?.ask(brand, userId, 'site')) === undefined,
    })
  }
  healthRoutes(app, { check: () => ping(database), signal })
  await app.ready()

  const keptMs = options.keptMs ?? keptByDefaultMs
  const forgetting = createRetention([
    ...brands.map((brand) => ({ keptMs, forget: (before: number) => forgetMessages(database, brand, before) })),
    { keptMs, forget: (before) => forgetNotifications(database, before) },
    { keptMs, forget: (before) => forgetCalls(database, before) },
  ])
  forgetting.start()

  return {
    handler: (request, response) => app.routing(request, response),
    async close(withinMs) {
      await forgetting.stop()
      const idle = Promise.all([paths.push?.idle(), paths.site?.idle()])
      await Promise.race([idle, new Promise((resolve) => setTimeout(resolve, withinMs).unref())])
      await app.close()
      await Promise.all([given.push?.close?.(), given.site?.close?.()])
      await database.close()
    },
  }
}

function pathTo(
  provider: Provider,
  database: Database,
  suppression: Suppression | undefined,
  limits: typeof operatorLimits,
): SendPath {
  return createSendPath({
    database,
    provider: guard(provider, { concurrency: limits.providerConcurrency, timeoutMs: limits.providerTimeoutMs }),
    suppress: suppression?.wrap ?? ((inner) => inner),
    concurrency: limits.providerConcurrency,
    inProgress: limits.inProgress,
    workMs: limits.answerBudgetMs + limits.providerTimeoutMs,
  })
}
