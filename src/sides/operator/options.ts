import type { AcceptedKey } from '../../base/http/accepted-keys.ts'
import type { AccessKey } from '../../base/http/access.ts'
import type { BodyLimits } from '../../base/http/request-bodies.ts'
import { defaultsOf } from '../../base/runtime/setting.ts'
import type { ContentMapping } from '../../contract/content.ts'
import type { AlertsOptions } from '../../subjects/alerts/options.ts'
import type { AttributeSource } from '../../subjects/attributes/attribute-source.ts'
import type { AppOptions } from '../../subjects/delivery/app-api.ts'
import type { PushOptions } from '../../subjects/delivery/compose.ts'
import type { SuppressionOptions } from '../../subjects/delivery/suppress.ts'
import type { Publishing } from '../../subjects/devices/outbox.ts'
import type { Provider } from '../../subjects/providers/provider.ts'
import type { sendingScopes } from '../../subjects/settings/operator.ts'
import { operator } from '../../subjects/settings/operator.ts'
import type { SideOptions } from '../../subjects/settings/side-options.ts'
import type { StatusOptions } from './statuses.ts'

export type SendingScope = (typeof sendingScopes)[number]

/** An API key of §5. Several may be valid at once, for rotation. Each gives access to its own brands only (row 31). */
export interface ApiKey extends AcceptedKey {
  readonly brands: readonly string[]
  /** The endpoints that the key may call. Default: all. */
  readonly scopes?: readonly SendingScope[]
  /** The agreed rate (§1.6, row 13). Default: no limit. Further messages are fatal, with Retry-After. Each process counts alone. */
  readonly rate?: KeyRate
}

export interface KeyRate {
  /** Most messages of the key in a second. */
  readonly perSecond?: number
  /** Most messages of each brand of the key in a second. */
  readonly perBrand?: number
}

export interface DeviceLimits {
  readonly app: number
  readonly services: number
}

export interface OperatorLimits extends Omit<BodyLimits, 'bodyTimeoutMs'> {
  /** Largest request body in bytes. */
  readonly bodyBytes: number
  /** Most messages in one batch; further messages are fatal (row 26). */
  readonly batchMax: number
  /** A request is answered within this time. Unfinished messages are then fatal, but their sending goes on. */
  readonly answerBudgetMs: number
  /** Most messages in progress; further messages are fatal (row 13). */
  readonly inProgress: number
  readonly providerConcurrency: number
  readonly providerTimeoutMs: number
}

export interface ReconciliationLimits {
  /** Most lists that are streamed at once; a further request is answered 503. */
  readonly streams: number
  /** The list is aborted after this time without data from the source, or without a read by the client. */
  readonly stallMs: number
  /** Timeout of a whole list. */
  readonly streamMs: number
}

export interface OperatorTesting {
  readonly reconciliation?: Partial<ReconciliationLimits>
  /** The longest time for a request body to arrive. Default: 30 seconds. */
  readonly bodyTimeoutMs?: number
  /** Most tokens that one user may link through /app in a minute, and most that one user may unlink. Default: 10. */
  readonly appPerMinute?: number
}

export interface OperatorOptions extends SideOptions {
  readonly keys: readonly ApiKey[]
  /** Keys for /admin. */
  readonly adminKeys?: readonly AccessKey[]
  /** Destination of push messages: the users' devices, or your own provider. Absent: the push endpoints answer 503. */
  readonly push?: PushOptions
  /** Most devices of one user: after a link with a subscriber token (20), and after any other link (200). */
  readonly deviceLimits?: Partial<DeviceLimits>
  /** Destinations to which the links and unlinks of each brand are published (§4.2, §4.3). Other brands are not published. */
  readonly publish?: readonly Publishing[]
  /** Destination of on-site messages: the built-in inbox, or your own provider. Absent: the on-site endpoints answer 503. */
  readonly site?: Provider | 'inbox'
  /** Source of the users' attributes (blocked, excluded, consent): read before every send, and for reconciliation (§2.5). */
  readonly attributes?: AttributeSource
  /**
   * Options of suppression by `attributes` (docs/attributes.md). 'none': messages are sent to all users, whatever their attributes.
   * Without `attributes`, 'none' is required.
   */
  readonly suppression?: SuppressionOptions | 'none'
  /** Access of the operator's pages and apps: secrets of subscriber tokens, and origins that may call /app from a browser. */
  readonly app?: AppOptions
  /** Records the delivery statuses of messages and returns them to the platform (§1.5, rows 23 to 25). Absent: they are not recorded. */
  readonly status?: StatusOptions
  /** The pointers to the content in a request element (row 4). One that is not given has its default. */
  readonly content?: Partial<ContentMapping>
  /** Tells a person of troubles: docs/monitoring.md. */
  readonly alerts?: AlertsOptions
  readonly limits?: Partial<OperatorLimits>
  /** Limits that only a test changes. */
  readonly testing?: OperatorTesting
}

const { device_limits, limits } = operator.settings
export const deviceLimits: DeviceLimits = defaultsOf(device_limits.settings)
export const operatorLimits: OperatorLimits = defaultsOf(limits.settings)
export const reconciliationLimits: ReconciliationLimits = { streams: 9, stallMs: 30_000, streamMs: 30 * 60_000 }
export const appPerMinute = 10
