// The real services that tests use: at an address from the environment, or else started or installed by the tests.

import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A service, with its environment variable and the way to start it. */
export interface Service<T> {
  readonly name: string
  /** The environment variable in which a person may give its address. */
  readonly variable: string
  /** The properties that the tests with this service prove. */
  readonly proves: string
  /** The command for a person to get the service. */
  readonly command: string
  /** Starts the service, and installs it if necessary. Rejects with the reason if that is impossible. */
  readonly start: () => Promise<T & { readonly address: string; stop(): Promise<void> }>
}

interface Availability {
  readonly address?: string
  /** The reason why there is no address. */
  readonly missing?: string
  stop(): Promise<void>
}

/** Returns the service from the environment or from `npm test`, or else starts it, once for this process. */
function availabilityOf(service: Service<object>): Promise<Availability> {
  const availability = known.get(service) ?? findOrStart(service)
  known.set(service, availability)
  return availability
}
const known = new Map<Service<object>, Promise<Availability>>()

async function findOrStart(service: Service<object>): Promise<Availability> {
  const address = process.env[service.variable]
  if (address) return { address, stop }
  return (await askRun(service)) ?? (await startOnce(service))
}
const stop = async (): Promise<void> => {}

/** Names the port at which `npm test` tells its test processes about its services. */
const portVariable = 'BELLWIRE_TEST_SERVICES'
const port = process.env[portVariable]

/** @returns null without `npm test`, or if the service is none of its services */
async function askRun({ variable }: Service<object>): Promise<Availability | null> {
  if (!port) return null
  const [response] = await once(get({ port, path: `/${variable}` }), 'response')
  const answer = JSON.parse(await text(response))
  return answer && { ...answer, stop }
}

/** For `npm test`: a service starts when the first test process asks for it, or at once. All end with `stopServices()`. */
export async function shareServices(services: readonly Service<object>[], atOnce: boolean): Promise<void> {
  const server = createServer(async ({ url }, response) => {
    const service = services.find(({ variable }) => url === `/${variable}`)
    response.end(JSON.stringify(service ? await availabilityOf(service) : null))
  })
  await once(server.listen(0, '127.0.0.1').unref(), 'listening')
  process.env[portVariable] = String((server.address() as AddressInfo).port)
  if (atOnce) services.forEach(availabilityOf)
}

export async function stopServices(): Promise<void> {
  for (const availability of known.values()) await (await availability).stop()
}

async function startOnce(service: Service<object>): Promise<Availability> {
  try {
    return await service.start()
  } catch (error) {
    const missing = error instanceof Error ? error.message : String(error)
    process.once('exit', () => console.error(describeMissing(service, missing)))
    return { missing, stop }
  }
}

const describeMissing = ({ name, proves, command }: Service<object>, reason: string): string =>
  `\nnot proved because ${name} is unavailable: ${proves}\n  reason: ${reason}\n  to get it: ${command}`

/** Returns the address of a service. Rejects if the service is unavailable. */
export async function addressOf(service: Service<object>): Promise<string> {
  const { address, missing } = await availabilityOf(service)
  if (address === undefined) throw new Error(`${service.name} is unavailable: ${missing}`)
  return address
}

/**
 * Returns the reason to skip a test that needs these services, or false. If CI is set, it rejects instead, and the run fails.
 *
 * @example test('two processes take over from each other', { skip: await without(postgresService) }, async () => …)
 */
export async function without(...services: readonly Service<object>[]): Promise<string | false> {
  for (const service of services) {
    const { missing } = await availabilityOf(service)
    if (missing === undefined) continue
    const reason = `${service.name} is unavailable: ${missing}`
    if (process.env.CI) throw new Error(`${reason}\n  ${service.command}`)
    return reason
  }
  return false
}
