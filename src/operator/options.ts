import type { AttributeSource } from '../attributes/attribute-source.ts'
import type { ContentMapping } from '../contract/content.ts'
import type { Provider } from '../providers/provider.ts'
import type { AccessKey } from '../runtime/access.ts'

/** An API key of §5. Two or more may live at once, for rotation; each opens its own brands only (row 31). */
export interface ApiKey {
  readonly name: string
  readonly key: string
  readonly brands: readonly string[]
}

export interface OperatorLimits {
  /** Largest request body in bytes. */
  readonly bodyBytes: number
  /** Most messages in one batch; the excess is answered as fatal (row 26). */
  readonly batchMax: number
  /** A request is answered within this time; what is unfinished is fatal and goes on. */
  readonly answerBudgetMs: number
  /** Messages in progress at once; the excess is fatal (row 13). */
  readonly inProgress: number
  readonly providerConcurrency: number
  readonly providerTimeoutMs: number
}

export interface OperatorOptions {
  /** 'sqlite:PATH' or 'postgres://…'. */
  readonly store: string
  readonly keys: readonly ApiKey[]
  /** Keys for /admin. */
  readonly adminKeys?: readonly AccessKey[]
  /** Where push messages go. Absent: the push endpoints answer 503. */
  readonly push?: Provider
  /** Where on-site messages go: the built-in inbox, or a provider of yours. Absent: the on-site endpoints answer 503. */
  readonly site?: Provider | 'inbox'
  /** Who must not be messaged; 'none' has to be written out (design §5.3). */
  readonly suppression: AttributeSource | 'none'
  /** The operator's own pages: secrets of subscriber tokens, and the origins that may call /app from a browser. */
  readonly app?: { readonly secrets: readonly string[]; readonly origins?: readonly string[] }
  /** Where the content stands in a request element (row 4). */
  readonly content?: ContentMapping
  /** How long messages, notifications and calls are kept, in milliseconds; 90 days, the least that row 29 asks for. */
  readonly keptMs?: number
  readonly limits?: Partial<OperatorLimits>
}

export const operatorLimits: OperatorLimits = {
  bodyBytes: 16 * 1024 * 1024,
  batchMax: 10_000,
  answerBudgetMs: 20_000,
  inProgress: 50_000,
  providerConcurrency: 100,
  providerTimeoutMs: 15_000,
}
