// What is said about a general HTTP provider. Pure.

import type { Json } from '../../runtime/json.ts'
import type { AuthOptions } from './auth.ts'
import { onesignal } from './onesignal.ts'
import type { Rule } from './rules.ts'

/** The description of a provider. Its texts may hold {{placeholders}}. */
export interface Description {
  /** Where requests are POSTed. Placeholders may stand in path and query, never in the host. */
  readonly url: string
  readonly headers?: readonly { readonly name: string; readonly value: string }[]
  readonly auth?: AuthOptions
  /** The JSON that is sent. Absent: no body. */
  readonly body?: Json
  /** Before the rules that statuses have by themselves (rules.ts). */
  readonly rules?: readonly Rule[]
  /** Where the provider's own identifier stands in its answer, as a JSON Pointer. */
  readonly id?: string
}

/** A description that comes with us. */
export interface Preset extends Description {
  readonly name: string
}

export const presets: readonly Preset[] = [onesignal]

export interface HttpOptions extends Partial<Description> {
  /** For people, logs and metrics, and per device the NAME of the kind `http:NAME`. Default: the preset's name, else 'http'. */
  readonly name?: string
  /** Begins with this description; what is said beside it replaces its parts, headers and rules are put before its own. */
  readonly preset?: string
  /** Texts that templates use as {{secret.NAME}} and that are never shown. */
  readonly secrets?: readonly { readonly name: string; readonly value: string }[]
  /**
   * How the provider knows a user: what {{user_id}} becomes. Where one provider serves several brands it has to hold
   * {{brand}}, because user 1001 of two brands are two people (row 31).
   */
  readonly userId?: string
  /** Members of the body that a message may set itself, by its overrides for `http`. None by default: they could name another target. */
  readonly overrides?: readonly string[]
  /** Requests at a time. 64. */
  readonly concurrency?: number
  /** A certificate authority of your own, as PEM. */
  readonly ca?: string
}

export interface Resolved extends Description {
  readonly name: string
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly auth: AuthOptions
  readonly rules: readonly Rule[]
  readonly secrets: ReadonlyMap<string, string>
  readonly userId: string
  readonly overrides: readonly string[]
  readonly concurrency: number
  readonly ca?: string
}

/** The options with their preset and defaults. */
export function resolve(options: HttpOptions): Resolved {
  const preset = presets.find(({ name }) => name === options.preset)
  const { url = preset?.url ?? '', auth = preset?.auth, body = preset?.body, id = preset?.id, ca } = options
  const secrets = new Map((options.secrets ?? []).map(({ name, value }) => [name, value]))
  return {
    name: options.name ?? preset?.name ?? 'http',
    url,
    headers: [...(preset?.headers ?? []), ...(options.headers ?? [])],
    auth: withSecrets(auth ?? { kind: 'none' }, secrets),
    ...(body !== undefined && { body }),
    rules: [...(options.rules ?? []), ...(preset?.rules ?? [])],
    ...(id !== undefined && { id }),
    secrets,
    userId: options.userId ?? '{{user_id}}',
    overrides: options.overrides ?? [],
    concurrency: options.concurrency ?? 64,
    ...(ca !== undefined && { ca }),
  }
}

export const secretOf = /\{\{\s*secret\.([^{}\s]+)\s*\}\}/g

function withSecrets(auth: AuthOptions, secrets: ReadonlyMap<string, string>): AuthOptions {
  if (auth.kind !== 'header') return auth
  return { ...auth, value: auth.value.replace(secretOf, (whole, name) => secrets.get(name) ?? whole) }
}

/** An address as its origin and what follows; nothing is normalized, because placeholders stand in it. */
export function partsOf(url: string): { readonly origin: string; readonly path: string } {
  const [, origin = '', path = ''] = /^([^:]*:\/\/[^/?#]*)(.*)$/s.exec(url) ?? []
  return { origin, path: path.startsWith('/') ? path : `/${path}` }
}
