// The names of the options that the operator and a platform that delivers itself have in common.

import type { ContentMapping } from '../contract/content.ts'
import { type OptionChecks, optionNames } from '../runtime/forms.ts'
import type { AppOptions } from './app-api.ts'
import type { SuppressionOptions } from './suppress.ts'

export const appNames = optionNames<AppOptions>({ secrets: true, origins: true, streams: true, streamsPerUser: true })

export const contentNames = optionNames<ContentMapping>({
  title: true,
  body: true,
  image_url: true,
  url: true,
  data: true,
  expires_at: true,
  token: true,
  tokens: true,
  recipient: true,
  overrides: true,
  meta: true,
  required: true,
})

const suppressionNames = optionNames<SuppressionOptions>({
  fields: true,
  exempt: true,
  rule: true,
  maxStalenessMs: true,
  timeoutMs: true,
})
const exemptNames = optionNames<NonNullable<SuppressionOptions['exempt']>>({ activities: true, triggerHashes: true })

export function checkSuppressionNames(
  known: OptionChecks['known'],
  path: string,
  suppression: SuppressionOptions | 'none' | undefined,
): void {
  known(path, suppression, suppressionNames)
  if (typeof suppression === 'object') known(`${path}.exempt`, suppression.exempt, exemptNames)
}
