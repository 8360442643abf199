// Packages that most installations do not need: optional peer dependencies, installed by the users of their feature.

import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

export type OptionalPackage =
  | '@opentelemetry/sdk-node'
  | '@platformatic/kafka'
  | '@scalar/fastify-api-reference'
  | 'nodemailer'
  | 'openid-client'

/** The error for a package that is not installed, and the command that installs it. */
export interface MissingPackage {
  readonly description: string
  readonly remedy: string
}

/** @returns undefined if the package is installed */
export function missingPackage(name: OptionalPackage): MissingPackage | undefined {
  try {
    require.resolve(name)
    return undefined
  } catch {
    const { peerDependencies } = require('../../../package.json') as {
      peerDependencies: Record<OptionalPackage, string>
    }
    const [major] = /\d+/.exec(peerDependencies[name]) ?? []
    return { description: `needs the package ${name}, which is not installed`, remedy: `npm install ${name}@${major}` }
  }
}

/**
 * Loads a package at its first use.
 *
 * @throws an error with the install command if the package is missing
 * @example const { Producer } = loadPackage<typeof import('@platformatic/kafka')>('@platformatic/kafka', 'kafkaPublisher')
 */
export function loadPackage<T>(name: OptionalPackage, user: string): T {
  const missing = missingPackage(name)
  if (missing) throw new Error(`${user} ${missing.description}: ${missing.remedy}`)
  return require(name) as T
}
