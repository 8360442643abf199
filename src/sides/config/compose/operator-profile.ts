import { digestOf } from '../../../base/http/accepted-keys.ts'
import { present } from '../../../base/runtime/present.ts'
import {
  fingerprintOfDigest,
  type IntegrationProfile,
  isPublicAddress,
  profileVersion,
} from '../../../contract/integration-profile.ts'
import { fieldsOf } from '../../../subjects/attributes/attribute-source.ts'
import type { KeyRate } from '../../operator/options.ts'
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
  const baseUrl = config.publicUrl
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
    batch_max: limits.batchMax,
    body_bytes: limits.bodyBytes,
    answer_within_ms: limits.answerBudgetMs,
    concurrency: Math.max(1, Math.min(mostBatches, Math.floor(limits.inProgress / limits.batchMax))),
    keys: keys.map(({ name, brands, rate, ...key }) => ({
      name,
      fingerprint: fingerprintOfDigest(digestOf(key)),
      brands: [...brands],
      ...(rate && { rate: rateOf(rate) }),
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

const rateOf = ({ perSecond, perBrand }: KeyRate) => present({ per_second: perSecond, per_brand: perBrand })

const problem = (name: string, description: string, remedy: string) => ({
  path: `operator.${name}`,
  where: '',
  description,
  remedy,
})
