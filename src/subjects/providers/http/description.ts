import type { AuthOptions } from '../../../base/http-client/auth.ts'
import type { Json } from '../../../base/runtime/json.ts'
import type { Rule } from './rules.ts'

export type ProviderAuth =
  | AuthOptions
  | { readonly kind: 'none' }
  /** A signature by the Standard Webhooks specification: whsec_ and base64. */
  | { readonly kind: 'standard-webhooks'; readonly secret: string }

/** The description of a provider. Its texts may contain {{placeholders}}. */
export interface Description {
  /** Default: POST. */
  readonly method?: 'POST' | 'PUT' | 'PATCH'
  /** The URL of the requests. Placeholders are allowed in the path and the query, not in the host. */
  readonly url: string
  readonly headers?: readonly { readonly name: string; readonly value: string }[]
  readonly auth?: ProviderAuth
  /** The JSON body of a request. Absent: no body. */
  readonly body?: Json
  /** Rules that are tried before the default rules for statuses (rules.ts). */
  readonly rules?: readonly Rule[]
  /** JSON Pointer to the provider's own identifier in its answer. */
  readonly id?: string
}

/** A description that is part of Bellwire. */
export interface Preset extends Description {
  readonly name: string
}
