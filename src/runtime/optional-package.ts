// Packages that most installations do not need. They are optional peer dependencies: who uses the feature installs the package.

import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

export type OptionalPackage = '@platformatic/kafka' | '@scalar/fastify-api-reference'

/** What to say of a package that is not installed. */
export interface MissingPackage {
  readonly what: string
  readonly remedy: string
}

/** @returns undefined where the package is installed */
export function missingPackage(name: OptionalPackage): MissingPackage | undefined {
  try {
    require.resolve(name)
    return undefined
  } catch {
    const { peerDependencies } = require('../../package.json') as { peerDependencies: Record<OptionalPackage, string> }
    const [major] = /\d+/.exec(peerDependencies[name]) ?? []
    return { what: `needs the package ${name}, which is not installed`, remedy: `npm install ${name}@${major}` }
  }
}

/**
 * Loads a package when it is first needed.
 *
 * @throws with the command that installs it
 * @example const { Producer } = loadPackage<typeof import('@platformatic/kafka')>('@platformatic/kafka', 'kafkaPublisher')
 */
export function loadPackage<T>(name: OptionalPackage, user: string): T {
  const missing = missingPackage(name)
  if (missing) throw new Error(`${user} ${missing.what}: ${missing.remedy}`)
  return require(name) as T
}
