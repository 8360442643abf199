import type { AttributeSource } from '../attributes/attribute-source.ts'
import type { ContentMapping } from '../contract/content.ts'
import type { DevicesOptions } from '../delivery/devices.ts'
import type { RemovalLimits } from '../delivery/removal-brake.ts'
import type { SuppressionOptions } from '../delivery/suppress.ts'
import type { Judge } from '../devices/device-event.ts'
import type { DeviceSource } from '../devices/device-source.ts'
import type { Publishing } from '../devices/outbox.ts'
import { devicesPerUser } from '../devices/registry.ts'
import type { Provider } from '../providers/provider.ts'
import type { AccessKey } from '../runtime/access.ts'
import { type BodyLimits, bodyLimits } from '../runtime/request-bodies.ts'

/** An API key of §5. Two or more may live at once, for rotation; each opens its own brands only (row 31). */
export interface ApiKey {
  readonly name: string
  readonly key: string
  readonly brands: readonly string[]
}

/** Push messages go to the devices of their users. */
export interface PushDevices extends Omit<DevicesOptions, 'content' | 'brake' | 'source' | 'devicesPerUser'> {
  /** Which devices a user has: our own registry, fed by link and unlink, or a source of yours. */
  readonly source: DeviceSource | 'registry'
  /** How many devices that their providers proved dead are removed before a person has to confirm. */
  readonly removals?: Partial<RemovalLimits>
}

export interface DeviceLimits {
  readonly app: number
  readonly services: number
  /** Tokens that one user links, and as many that one user unlinks, through /app in a minute. */
  readonly appPerMinute: number
}

export interface OperatorLimits extends BodyLimits {
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

export interface ReconciliationLimits {
  /** Lists that are streamed at a time; more are answered 503. */
  readonly streams: number
  /** A source that gives nothing, or a reader that takes nothing, for so long ends the list. */
  readonly stallMs: number
  /** The longest that a list may take. */
  readonly streamMs: number
}

export interface OperatorOptions {
  /** 'sqlite:PATH' or 'postgres://…'. */
  readonly store: string
  readonly keys: readonly ApiKey[]
  /** Where the platform reaches this operator ({base_url}), for /docs and /openapi.json. Left out: where these are served. */
  readonly publicUrl?: string
  /** Keys for /admin. */
  readonly adminKeys?: readonly AccessKey[]
  /** Where push messages go: to the devices of their users, or to a provider of yours. Absent: the push endpoints answer 503. */
  readonly push?: Provider | { readonly devices: PushDevices }
  /** Whether a Web Push subscription may be linked: its endpoint comes from a stranger. Says why not. */
  readonly judgeDevice?: Judge
  /** Most devices that one user has: after linking one with a subscriber token (20), and after any other link (200). */
  readonly deviceLimits?: Partial<DeviceLimits>
  /** Where each brand's links and unlinks are told (§4.2, §4.3). A brand that is not here tells nobody. */
  readonly publish?: readonly Publishing[]
  /** Where on-site messages go: the built-in inbox, or a provider of yours. Absent: the on-site endpoints answer 503. */
  readonly site?: Provider | 'inbox'
  /** Who is blocked, excluded, consenting: asked before every send, and the answer to reconciliation (§2.5). */
  readonly attributes?: AttributeSource
  /**
   * Left out: nobody is messaged whom `attributes` forbids (design §5.3). 'none', written out: everybody is messaged.
   * One of the two must be there.
   */
  readonly suppression?: SuppressionOptions | 'none'
  readonly reconciliation?: Partial<ReconciliationLimits>
  /** The operator's own pages: secrets of subscriber tokens, and the origins that may call /app from a browser. */
  readonly app?: {
    readonly secrets: readonly string[]
    readonly origins?: readonly string[]
    /** Most open streams of the inbox: in all, and of one user. */
    readonly streams?: number
    readonly streamsPerUser?: number
  }
  /** Where the content stands in a request element (row 4). */
  readonly content?: ContentMapping
  /** How long messages, notifications and calls are kept, in milliseconds; 90 days, the least that row 29 asks for. */
  readonly keptMs?: number
  /** How long request bodies, attempts and calls are kept, in milliseconds; 14 days, and never longer than `keptMs`. */
  readonly contentsKeptMs?: number
  readonly limits?: Partial<OperatorLimits>
}

export const deviceLimits: DeviceLimits = { app: 20, services: devicesPerUser, appPerMinute: 200 }

export const operatorLimits: OperatorLimits = {
  ...bodyLimits,
  bodyBytes: 16 * 1024 * 1024,
  batchMax: 10_000,
  answerBudgetMs: 20_000,
  inProgress: 50_000,
  providerConcurrency: 100,
  providerTimeoutMs: 15_000,
}

export const reconciliationLimits: ReconciliationLimits = { streams: 9, stallMs: 30_000, streamMs: 30 * 60_000 }
