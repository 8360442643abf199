import { fieldsOf } from '../../attributes/attribute-source.ts'
import {
  fingerprintOf,
  type IntegrationProfile,
  isPublicAddress,
  profileVersion,
} from '../../contract/integration-profile.ts'
import { ConfigError } from '../problem.ts'
import type { OperatorConfig } from '../table.ts'
import { attributeOptions } from './attributes.ts'

const setUrl = 'set it to the address at which the platform calls you, without a user name or password'
/** The most concurrent batches that are recommended for a lane; more help only an operator with a slow provider. */
const mostBatches = 4

/**
 * The integration profile of an operator with these settings. It contains no secret.
 *
 * @param now epoch milliseconds
 * @throws ConfigError if a setting is missing without which the platform could not call the operator
 */
export async function operatorProfile(config: OperatorConfig, now: number): Promise<IntegrationProfile> {
  const { limits, keys } = config
  const channels = (['push', 'site'] as const).filter((channel) => config[channel])
  const baseUrl = config.public_url
  const problems = [
    baseUrl === undefined && problem('public_url', 'missing; the profile needs it', setUrl),
    baseUrl !== undefined &&
      !isPublicAddress(baseUrl) &&
      problem('public_url', 'has a user name or password, which the profile would show', setUrl),
    channels.length === 0 && problem('push', 'no channel has a provider', 'set operator.push or operator.site'),
  ].filter((found) => found !== false)
  if (baseUrl === undefined || problems.length > 0) throw new ConfigError(problems)
  return {
    version: profileVersion,
    created_at: new Date(now).toISOString(),
    base_url: baseUrl,
    channels,
    modes: ['single', 'batch'],
    batch_max: limits.batch,
    body_bytes: limits.body,
    answer_within_ms: limits.answer_budget,
    concurrency: Math.max(1, Math.min(mostBatches, Math.floor(limits.in_progress / limits.batch))),
    keys: keys.map(({ name, key, brands, rate }) => ({
      name,
      fingerprint: fingerprintOf(key),
      brands: [...brands],
      ...(rate && { rate }),
    })),
    brands: await brandsOf(config),
  }
}

async function brandsOf(config: OperatorConfig): Promise<IntegrationProfile['brands']> {
  const { attributes } = await attributeOptions(config)
  const brands = [...new Set(config.keys.flatMap((key) => key.brands))]
  const described = brands.map((brand) => ({
    brand,
    reconciliation: attributes?.all ? [...fieldsOf(attributes, brand)] : [],
  }))
  await attributes?.close?.()
  return described
}

const problem = (name: string, description: string, remedy: string) => ({
  path: `operator.${name}`,
  where: '',
  description,
  remedy,
})
