// Takes what the operator stated in its integration profile (docs/go-live.md). The file of the preparation overrides it.

import { fingerprintOf, type IntegrationProfile } from '../../../contract/integration-profile.ts'
import { readProfileFile } from '../../../sides/config/profiles/read-file.ts'
import { CliError, exit } from '../exit.ts'
import type { Preparation } from './preparation.ts'

/** A larger batch is stated on the sign-off sheet, but not sent. */
const mostInBatch = 2_000

/** @throws CliError if the profile cannot be used, or does not have the key or the brand */
export async function withProfile(
  file: string,
  apiKey: string,
  written: Preparation,
  brandOption: string | undefined,
): Promise<Preparation> {
  const profile = await readProfileFile(file)
  const refuse = (why: string): never => {
    throw new CliError(exit.usage, `--profile ${file} cannot be used: ${why}`)
  }
  if (typeof profile === 'string') return refuse(profile)
  const key = profile.keys.find(({ fingerprint }) => fingerprint === fingerprintOf(apiKey))
  if (!key)
    return refuse(`the fingerprint of the API key, ${fingerprintOf(apiKey)}, is not in it: give a key that it lists`)
  const brand = brandOption ?? written.brand ?? String(key.brands[0])
  if (!key.brands.map(String).includes(brand)) return refuse(`its key ${key.name} is not for brand ${brand}`)
  const fields = profile.brands.find((each) => String(each.brand) === brand)?.reconciliation ?? []
  return {
    url: profile.base_url,
    brand,
    features: featuresOf(profile, fields.length > 0),
    fields,
    ...(profile.batch_max <= mostInBatch && { batchMax: profile.batch_max }),
    ...written,
    agreed: { ...agreedIn(profile, key), ...(written.agreed as object | undefined) },
  }
}

function featuresOf({ channels, modes }: IntegrationProfile, lists: boolean): NonNullable<Preparation['features']> {
  const sends = channels.flatMap((channel) => modes.map((mode) => `${channel}.${mode}` as const))
  return lists ? [...sends, 'reconciliation'] : sends
}

function agreedIn(
  profile: IntegrationProfile,
  { name, rate }: IntegrationProfile['keys'][number],
): Record<string, string> {
  const seconds = profile.answer_within_ms / 1000
  return {
    'Integration profile': `exported ${profile.created_at}`,
    'API key': name,
    'Stated batch maximum': `${profile.batch_max} messages`,
    'Largest request': `${profile.body_bytes} bytes`,
    'Answers within': `${seconds} s`,
    'Concurrent requests': `${profile.concurrency} for each lane`,
    Rate: phraseRate(rate),
  }
}

function phraseRate(rate: IntegrationProfile['keys'][number]['rate']): string {
  const parts = [
    ...(rate?.per_second === undefined ? [] : [`${rate.per_second} messages a second`]),
    ...(rate?.per_brand === undefined ? [] : [`${rate.per_brand} for each brand`]),
  ]
  return parts.length === 0 ? 'no limit' : parts.join(', ')
}
