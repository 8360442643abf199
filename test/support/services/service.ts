// The real services that tests use: an address given in the environment, else one that we start or install ourselves.

/** What one service is and how it is had. */
export interface Service<T> {
  readonly name: string
  /** Says where it is; set by a person, or by the global setup for the whole run. */
  readonly variable: string
  /** What is not proved without it. */
  readonly proves: string
  /** The one command that gets it. */
  readonly command: string
  /** Gets it from nothing; rejects with the reason why not. */
  readonly start: () => Promise<T & { readonly address: string; stop(): Promise<void> }>
}

/** Written by the global setup, so that not each test file tries in vain again. */
const missingVariable = ({ variable }: Service<unknown>): string => `${variable}_MISSING`

export type Had = { readonly address: string } | { readonly missing: string }

/** One for the whole process: what the environment names, else started now and stopped when the process ends. */
export function have(service: Service<object>): Promise<Had> {
  const had = known.get(service) ?? get(service)
  known.set(service, had)
  return had
}
const known = new Map<Service<object>, Promise<Had>>()

async function get(service: Service<object>): Promise<Had> {
  const address = process.env[service.variable]
  if (address) return { address }
  const missing = process.env[missingVariable(service)]
  if (missing) return { missing }
  const { address: started, missing: reason } = await startOnce(service)
  if (started) return { address: started }
  process.once('exit', () => console.error(notProved(service, reason as string)))
  return { missing: reason as string }
}

interface Started {
  readonly address?: string
  readonly missing?: string
  readonly stop: () => Promise<void>
}

async function startOnce(service: Service<object>): Promise<Started> {
  try {
    return await service.start()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (process.env.CI)
      throw new Error(`${service.name} cannot be had: ${reason}\n  ${service.command}`, { cause: error })
    return { missing: reason, stop: async () => {} }
  }
}

/** For the global setup: starts a service once and tells all test processes. @returns what to say at the very end, and how to stop */
export async function share(service: Service<object>): Promise<{ readonly last?: string; stop(): Promise<void> }> {
  if (process.env[service.variable]) return { stop: async () => {} }
  const { address, missing, stop } = await startOnce(service)
  if (address) process.env[service.variable] = address
  if (missing) process.env[missingVariable(service)] = missing
  return { stop, ...(missing && { last: notProved(service, missing) }) }
}

const notProved = ({ name, proves, command }: Service<object>, reason: string): string =>
  `not proved, ${name} is missing: ${proves}\n  why: ${reason}\n  get it: ${command}`

/** The address; rejects where the service cannot be had. */
export async function addressOf(service: Service<object>): Promise<string> {
  const had = await have(service)
  if ('missing' in had) throw new Error(`${service.name} cannot be had: ${had.missing}`)
  return had.address
}

/**
 * For a test's `skip`: false, or the reason. Where CI is set it rejects instead, so that the run fails by name.
 *
 * @example test('two processes take over from each other', { skip: await without(postgresService) }, async () => …)
 */
export async function without(...services: readonly Service<object>[]): Promise<string | false> {
  for (const service of services) {
    const had = await have(service)
    if ('missing' in had) return `${service.name} cannot be had: ${had.missing}`
  }
  return false
}
