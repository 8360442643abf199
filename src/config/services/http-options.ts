import type { ProviderAuth } from '../../providers/http/description.ts'
import { faultsOf } from '../../providers/http/faults.ts'
import type { HttpOptions } from '../../providers/http/options.ts'
import type { Mode } from '../../providers/http/values.ts'
import { authOptions } from '../address-settings.ts'
import type { Problem } from '../problem.ts'
import type { StatusWebhookConfig } from '../status-settings.ts'
import type { HttpSettings } from './http.ts'

/** Converts the settings to the options of the provider, except for values that are read from files. */
export function httpOptions(settings: HttpSettings & { readonly user_id?: string }): HttpOptions {
  const {
    preset,
    auth,
    name,
    url,
    body,
    id,
    headers,
    rules,
    secrets,
    overrides,
    per_second: perSecond,
    concurrency,
    user_id: userId,
  } = settings
  return {
    ...(preset !== 'none' && { preset }),
    ...(name !== undefined && { name }),
    ...(url !== undefined && { url }),
    ...(auth !== undefined && { auth: providerAuth(auth) }),
    ...(body !== undefined && { body }),
    ...(id !== undefined && { id }),
    ...(userId !== undefined && { userId }),
    headers,
    rules,
    secrets,
    overrides,
    perSecond,
    concurrency,
  }
}

export type StatusTemplateSettings = Extract<StatusWebhookConfig['to'], { is: 'template' }>

/** The settings of a status webhook with a template, as those of a provider. */
export const templateSettings = ({ template: url, connections: concurrency, ...all }: StatusTemplateSettings) =>
  ({ ...all, preset: 'none', url, concurrency, overrides: [] }) satisfies HttpSettings

function providerAuth(auth: NonNullable<HttpSettings['auth']>): ProviderAuth {
  if (auth.is === 'none') return { kind: 'none' }
  if (auth.is === 'standard_webhooks') return { kind: 'standard-webhooks', secret: auth.standard_webhooks }
  return authOptions(auth)
}

/**
 * Checks the settings against each other: unknown placeholders, rules that can never match, users of several brands that would be
 * confused.
 *
 * @param at the path of the settings: 'operator.push'
 * @param brands the brands of the messages
 */
export function httpProblems(
  settings: HttpSettings,
  mode: Mode,
  { at, where, brands }: { readonly at: string; readonly where: string; readonly brands: readonly string[] },
): Problem[] {
  return faultsOf(httpOptions(settings), mode, brands).map(({ at: within, description, remedy }) => ({
    path: `${at}.${mode === 'status' && within === 'url' ? 'template' : within}`,
    where,
    description,
    remedy,
  }))
}
