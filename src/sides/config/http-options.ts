import type { ProviderAuth } from '../../subjects/providers/http/description.ts'
import { faultsOf } from '../../subjects/providers/http/faults.ts'
import type { HttpOptions } from '../../subjects/providers/http/options.ts'
import type { Mode } from '../../subjects/providers/http/values.ts'
import { authOptions } from '../../subjects/settings/address.ts'
import type { HttpSettings } from '../../subjects/settings/services/http.ts'
import type { StatusWebhookConfig } from '../../subjects/settings/status.ts'
import type { Fault } from './problem.ts'

/** Converts the settings to the options of the provider, except for values that are read from files. */
export function httpOptions({
  preset,
  auth,
  ca: _ca,
  clientCertificate: _certificate,
  clientKey: _key,
  ...options
}: HttpSettings): HttpOptions {
  return {
    ...options,
    ...(preset !== 'none' && { preset }),
    ...(auth !== undefined && { auth: providerAuth(auth) }),
  }
}

export type StatusTemplateSettings = Extract<StatusWebhookConfig['to'], { is: 'template' }>

/** The settings of a status webhook with a template, as those of a provider. */
export const templateSettings = ({ connections: concurrency, ...all }: StatusTemplateSettings) =>
  ({ ...all, preset: 'none', concurrency, overrides: [] }) satisfies HttpSettings

function providerAuth(auth: NonNullable<HttpSettings['auth']>): ProviderAuth {
  if (auth.is === 'none') return { kind: 'none' }
  if (auth.is === 'standard_webhooks') return { kind: 'standard-webhooks', secret: auth.secret }
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
  { at, brands }: { readonly at: string; readonly brands: readonly string[] },
): Fault[] {
  return faultsOf(httpOptions(settings), mode, brands).map(({ at: within, description, remedy }) => ({
    path: `${at}.${mode === 'status' && within === 'url' ? 'template' : within}`,
    description,
    remedy,
  }))
}
