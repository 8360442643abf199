// The real services that tests use: at an address from the environment, or else started or installed by the tests.

/** A service, with its environment variable and the way to start it. */
export interface Service<T> {
  readonly name: string
  /** The environment variable with its address, set by a person, or by the global setup for the whole run. */
  readonly variable: string
  /** The properties that the tests with this service prove. */
  readonly proves: string
  /** The command for a person to get the service. */
  readonly command: string
  /** Starts the service, and installs it if necessary. Rejects with the reason if that is impossible. */
  readonly start: () => Promise<T & { readonly address: string; stop(): Promise<void> }>
}

/** Set by the global setup, so that test files do not try to start an unavailable service again. */
const missingVariable = ({ variable }: Service<unknown>): string => `${variable}_MISSING`

type Availability = { readonly address: string } | { readonly missing: string }

/** Returns the service from the environment, or else starts it, once for this process. It stops when the process ends. */
function availabilityOf(service: Service<object>): Promise<Availability> {
  const availability = known.get(service) ?? findOrStart(service)
  known.set(service, availability)
  return availability
}
const known = new Map<Service<object>, Promise<Availability>>()

async function findOrStart(service: Service<object>): Promise<Availability> {
  const address = process.env[service.variable]
  if (address) return { address }
  const missing = process.env[missingVariable(service)]
  if (missing) return { missing }
  const { address: started, missing: reason } = await startOnce(service)
  if (started) return { address: started }
  process.once('exit', () => console.error(describeMissing(service, reason as string)))
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
      throw new Error(`${service.name} is unavailable: ${reason}\n  ${service.command}`, { cause: error })
    return { missing: reason, stop: async () => {} }
  }
}

/** For the global setup: starts a service for all test processes. @returns how to stop it, and a warning if it is missing */
export async function share(service: Service<object>): Promise<{ readonly warning?: string; stop(): Promise<void> }> {
  if (process.env[service.variable]) return { stop: async () => {} }
  const { address, missing, stop } = await startOnce(service)
  if (address) process.env[service.variable] = address
  if (missing) process.env[missingVariable(service)] = missing
  return { stop, ...(missing && { warning: describeMissing(service, missing) }) }
}

const describeMissing = ({ name, proves, command }: Service<object>, reason: string): string =>
  `not proved because ${name} is unavailable: ${proves}\n  reason: ${reason}\n  to get it: ${command}`

/** Returns the address of a service. Rejects if the service is unavailable. */
export async function addressOf(service: Service<object>): Promise<string> {
  const availability = await availabilityOf(service)
  if ('missing' in availability) throw new Error(`${service.name} is unavailable: ${availability.missing}`)
  return availability.address
}

/**
 * Returns the reason to skip a test that needs these services, or false. If CI is set, it rejects instead, and the run fails.
 *
 * @example test('two processes take over from each other', { skip: await without(postgresService) }, async () => …)
 */
export async function without(...services: readonly Service<object>[]): Promise<string | false> {
  for (const service of services) {
    const availability = await availabilityOf(service)
    if ('missing' in availability) return `${service.name} is unavailable: ${availability.missing}`
  }
  return false
}
