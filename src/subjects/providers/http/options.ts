// The options of a general HTTP provider. Pure.

import type { ConnectionOptions } from '../../../base/http-client/dispatcher.ts'
import type { Description, ProviderAuth } from './description.ts'
import { presets } from './presets.ts'
import type { Rule } from './rules.ts'

export interface HttpOptions extends Partial<Description>, ConnectionOptions {
  /** Name in logs and metrics; for devices also the NAME of the kind `http:NAME`. Default: the preset's name, else 'http'. */
  readonly name?: string
  /** Base description. Other options replace its parts, but headers are added, and rules are tried before the preset's rules. */
  readonly preset?: string
  /** Texts that templates use as {{secret.NAME}}. They are never shown. */
  readonly secrets?: readonly { readonly name: string; readonly value: string }[]
  /**
   * Template for the provider's id of a user: the value of {{user_id}}. If one provider serves several brands, it must contain
   * {{brand}}, because user 1001 of two brands are two people (row 31).
   */
  readonly userId?: string
  /** Members of the body that the overrides for `http` may set. Default: none, because a member could name another target. */
  readonly overrides?: readonly string[]
  /** Maximum number of requests in flight. Default: 64. */
  readonly concurrency?: number
  /** Maximum number of sends in a second, in each process. Default: no limit. */
  readonly perSecond?: number | undefined
}

export interface Resolved extends Description {
  readonly name: string
  readonly method: NonNullable<Description['method']>
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly auth: ProviderAuth
  readonly rules: readonly Rule[]
  readonly secrets: ReadonlyMap<string, string>
  readonly userId: string
  readonly overrides: readonly string[]
  readonly concurrency: number
}

/** Merges the options with their preset and the defaults. */
export function resolveOptions(options: HttpOptions): Resolved {
  const preset = presets.find(({ name }) => name === options.preset)
  const { url = preset?.url ?? '', auth = preset?.auth, body = preset?.body, id = preset?.id } = options
  const secrets = new Map((options.secrets ?? []).map(({ name, value }) => [name, value]))
  return {
    name: options.name ?? preset?.name ?? 'http',
    url,
    method: options.method ?? preset?.method ?? 'POST',
    headers: [...(preset?.headers ?? []), ...(options.headers ?? [])],
    auth: withSecrets(auth ?? { kind: 'none' }, secrets),
    ...(body !== undefined && { body }),
    rules: [...(options.rules ?? []), ...(preset?.rules ?? [])],
    ...(id !== undefined && { id }),
    secrets,
    userId: options.userId ?? '{{user_id}}',
    overrides: options.overrides ?? [],
    concurrency: options.concurrency ?? 64,
  }
}

export const secretOf = /\{\{\s*secret\.([^{}\s]+)\s*\}\}/g

function withSecrets(auth: ProviderAuth, secrets: ReadonlyMap<string, string>): ProviderAuth {
  if (auth.kind !== 'header') return auth
  return { ...auth, value: auth.value.replace(secretOf, (whole, name) => secrets.get(name) ?? whole) }
}

/** Splits a URL into its origin and the rest. Nothing is normalized, because the URL may contain placeholders. */
export function splitUrl(url: string): { readonly origin: string; readonly path: string } {
  const [, origin = '', path = ''] = /^([^:]*:\/\/[^/?#]*)(.*)$/s.exec(url) ?? []
  return { origin, path: path.startsWith('/') ? path : `/${path}` }
}
