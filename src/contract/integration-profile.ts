// The integration profile: what an operator states before go-live (§1.6, §8), as a JSON document. The operator exports it, and the
// platform configures its lanes with it. docs/integration-profile.schema.json is the schema.

import { hash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { brandNumber } from './documents/described.ts'
import { createMismatch } from './mismatch.ts'
import { reconciliationFields } from './records.ts'
import { shown } from './shown.ts'

export const profileVersion = 1
/** The largest profile that is read, in bytes. */
export const mostProfileBytes = 256 * 1024

const mostItems = 1_000
const count = (most: number, description: string) => Type.Integer({ minimum: 1, maximum: most, description })
const listOf = <const Words extends readonly string[]>(words: Words, description: string) =>
  Type.Array(Type.Enum(words as unknown as [Words[number], ...Words[number][]]), {
    minItems: 1,
    maxItems: words.length,
    description,
  })
const perSecond = (description: string) => Type.Optional(count(10_000_000, description))

/** A profile is not confidential: its address must not contain a password. */
export function isPublicAddress(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, username, password } = new URL(url)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

const key = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200, description: 'The name of the key.' }),
    fingerprint: Type.String({
      pattern: '^sha256:[0-9a-f]{16}$',
      title: 'sha256: and 16 hexadecimal digits',
      // In an error, so that a key that was written by mistake is not shown.
      writeOnly: true,
      description: 'The first 16 hexadecimal digits of the SHA-256 of the key. The key itself is never in a profile.',
    }),
    brands: Type.Array(brandNumber(), {
      minItems: 1,
      maxItems: mostItems,
      description: 'The brands for which the key may send.',
    }),
    rate: Type.Optional(
      Type.Object(
        {
          per_second: perSecond('The most messages of the key in a second.'),
          per_brand: perSecond('The most messages of each brand of the key in a second.'),
        },
        { description: 'The rate of the key. Absent: no limit.' },
      ),
    ),
  },
  { description: 'One API key.' },
)

const brand = Type.Object(
  {
    brand: brandNumber(),
    reconciliation: Type.Array(Type.Enum([...reconciliationFields]), {
      maxItems: reconciliationFields.length,
      description: 'The fields of reconciliation that have a source.',
    }),
  },
  { description: 'One brand.' },
)

export const integrationProfile = Type.Object(
  {
    version: Type.Literal(profileVersion, { description: 'The version of this format.' }),
    created_at: Type.String({ maxLength: 40, description: 'When the profile was exported, ISO 8601 in UTC.' }),
    base_url: Type.Refine(
      Type.String({
        pattern: '^https?://',
        maxLength: 2_000,
        title: 'an http or https address without a user name or password',
        description: 'The address at which the platform calls the operator ({base_url}).',
      }),
      isPublicAddress,
    ),
    channels: listOf(['push', 'site'], 'The channels that have a provider.'),
    modes: listOf(['single', 'batch'], 'Whether a request may carry one message, or a batch.'),
    batch_max: count(1_000_000, 'The most messages in a batch (§8.2).'),
    body_bytes: count(2 ** 40, 'The largest request body, in bytes.'),
    answer_within_ms: count(
      3_600_000,
      'Every request is answered within this time. The timeout of the platform must be longer.',
    ),
    concurrency: count(100_000, 'The most concurrent requests of a lane that the operator recommends.'),
    keys: Type.Array(key, { minItems: 1, maxItems: mostItems, description: 'The API keys of the platform (§5).' }),
    brands: Type.Array(brand, { maxItems: mostItems, description: 'The brands of all keys.' }),
  },
  {
    title: 'an integration profile',
    description: 'What an operator states before go-live: address, limits, and the fingerprints of its API keys.',
  },
)

export type IntegrationProfile = Static<typeof integrationProfile>
export type ProfileKey = IntegrationProfile['keys'][number]

/** @example fingerprintOf('example-operator-key-1') // 'sha256:…', as `printf %s KEY | sha256sum | cut -c1-16` prints it */
export const fingerprintOf = (apiKey: string): string => fingerprintOfDigest(hash('sha256', apiKey))

/** @param sha256 the SHA-256 of the key in hexadecimal digits */
export const fingerprintOfDigest = (sha256: string): string => `sha256:${sha256.slice(0, 16)}`

/** The published JSON Schema. */
export const profileSchema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...integrationProfile }

const mismatch = createMismatch(integrationProfile, 'the profile')

/** @returns the profile, or a sentence that says what is wrong with the text */
export function readProfile(text: string): IntegrationProfile | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'it is not JSON'
  }
  const { version } = (value ?? {}) as { version?: unknown }
  if (Number.isInteger(version) && version !== profileVersion)
    return `its version is ${shown(version)}, and this release reads version ${profileVersion}`
  return mismatch(value) ?? (value as IntegrationProfile)
}
