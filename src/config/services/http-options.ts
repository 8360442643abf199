import type { ProviderAuth } from '../../providers/http/description.ts'
import { faultsOf } from '../../providers/http/faults.ts'
import type { HttpOptions } from '../../providers/http/options.ts'
import type { Mode } from '../../providers/http/values.ts'
import type { Problem } from '../problem.ts'
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
    ...(auth !== undefined && { auth: authOptions(auth) }),
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

function authOptions(auth: NonNullable<HttpSettings['auth']>): ProviderAuth {
  switch (auth.is) {
    case 'none':
      return { kind: 'none' }
    case 'header':
      return { kind: 'header', name: auth.header, value: auth.value }
    case 'basic':
      return { kind: 'basic', user: auth.basic, password: auth.password }
    case 'bearer':
      return { kind: 'bearer', token: auth.bearer }
    case 'standard_webhooks':
      return { kind: 'standard-webhooks', secret: auth.standard_webhooks }
    case 'oauth2': {
      const { oauth2: tokenUrl, client_id: clientId, client_secret: clientSecret, scope, audience, credentials } = auth
      return {
        kind: 'oauth2',
        tokenUrl,
        clientId,
        clientSecret,
        credentials,
        ...(scope !== undefined && { scope }),
        ...(audience !== undefined && { audience }),
      }
    }
  }
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
    path: `${at}.${within}`,
    where,
    description,
    remedy,
  }))
}
