import type { BrokerConsumer } from '../../base/brokers/consumer.ts'
import type { AccessKey } from '../../base/http/access.ts'
import { defaultsOf } from '../../base/runtime/setting.ts'
import type { ContentMapping } from '../../contract/content.ts'
import type { AlertsOptions } from '../../subjects/alerts/options.ts'
import type { StoreOptions } from '../../subjects/brands/configured-stores.ts'
import type { PolledOperator } from '../../subjects/conversions/poller.ts'
import type { AppOptions } from '../../subjects/delivery/app-api.ts'
import type { ProviderLimits, PushOptions } from '../../subjects/delivery/compose.ts'
import type { SuppressionOptions } from '../../subjects/delivery/suppress.ts'
import type { LinkSource } from '../../subjects/devices/link-intake.ts'
import type { LaneShape } from '../../subjects/providers/operator-api.ts'
import type { Channel, Provider } from '../../subjects/providers/provider.ts'
import type { ReconciliationOptions } from '../../subjects/reconcile/options.ts'
import { providerLimits } from '../../subjects/settings/delivery.ts'
import type { SideOptions } from '../../subjects/settings/side-options.ts'
import type { ProviderReceipts } from '../../subjects/status/provider-receipts.ts'
import type { StoredLaneReader } from '../admin/stored-lanes.ts'

/** The lane of a brand and channel: the provider of its messages, and its batches (§4.1 rule 3, §8.2). */
export interface LaneOptions {
  readonly brand: string
  readonly channel: Channel
  /**
   * Usually operatorApi(), which creates a provider for each mode of the lane; or a custom provider. 'own': the lane has no
   * operator, and `own` of the platform delivers its messages.
   */
  readonly provider: Provider | ((lane: LaneShape) => Provider) | 'own'
  /** One message per request, or a batch. */
  readonly mode: 'single' | 'batch'
  /** The most messages in a batch. Default: 500. */
  readonly max?: number
  /** The most bytes in a batch. Default: 4 MiB. */
  readonly bytes?: number
  /** An incomplete batch is sent when its first message has waited for this time. Default: 200. */
  readonly spanMs?: number
  /** The most concurrent calls. Default: 4. */
  readonly concurrency?: number
  /** The most messages per second. Default: no limit. */
  readonly perSecond?: number
  readonly timeoutMs?: number
  /** Whether failed messages are kept in Failed Actions (§6.4). Default: true. */
  readonly failedActions?: boolean
  /** The time after which a message is not sent (row 56). Default: it never expires. */
  readonly expires?: {
    /** The JSON Pointer of the expiry in a record. Default: '/expires_at'. */
    readonly at?: string
    /** For records without an expiry: this long after they were enqueued. */
    readonly afterMs?: number
  }
  /** The messages that are sent before all others of the lane (row 57): one of these conditions is enough. */
  readonly transactional?: {
    /** The JSON Pointer of the priority in a record, which is then 'transactional'. Default: '/priority'. */
    readonly at?: string
    /** The activity_ids. */
    readonly activities?: readonly string[]
    /** The names of the API keys that enqueue. */
    readonly keys?: readonly string[]
  }
  /** The delivery statuses that the operator reports (§6.2, row 24). */
  readonly status?: {
    /** The secrets with which the operator signs its calls: 'whsec_…', two during a rotation. */
    readonly secrets?: readonly string[]
    /** Polls the statuses from the operator (GET {base_url}/messages/status). */
    readonly poll?: PolledOperator
  }
  readonly retry?: { readonly firstMs?: number; readonly mostMs?: number; readonly attempts?: number }
}

/** Delivery without an operator (§1.2, §1.4): for the lanes with the provider 'own'. */
export interface OwnDeliveryOptions {
  /** The users' devices through push services, or a provider. */
  readonly push?: PushOptions
  /** The built-in inbox, or a provider. */
  readonly site?: Provider | 'inbox'
  /** Suppression by the CRM's attributes. 'none': messages are sent to all users, whatever their attributes. */
  readonly suppression?: SuppressionOptions | 'none'
  /** Access of pages and apps to /app: the inbox, and the devices of one user. Absent: it is not served. */
  readonly app?: AppOptions
  /** The providers that report delivery statuses, at POST /receipts/NAME. */
  readonly receiptsFrom?: readonly ProviderReceipts[]
  /** The pointers to the content in a record (row 4). One that is not given has its default. */
  readonly content?: Partial<ContentMapping>
  readonly limits?: Partial<ProviderLimits>
}

/** The devices that one user may link through /app, in all and in a minute. */
export const appDevices = { app: 20, appPerMinute: 10 }

/** The limits of each send path. A lane never has more in progress than its own concurrency and batch size allow. */
export const ownDeliveryLimits = {
  answerBudgetMs: 30_000,
  inProgress: 100_000,
  ...defaultsOf(providerLimits),
}

/** A queue or topic with one activity request record in each message. */
export interface IntakeSource {
  readonly consumer: BrokerConsumer
  /** The channel of all its records. Default: the type of each message, `push` or `site`. */
  readonly channel?: Channel
  /** The brands that its records may have. Default: all. */
  readonly brands?: readonly string[]
}

export interface PlatformOptions extends SideOptions {
  /** Further databases, each with the brands that live in it. All other brands live in `store`. */
  readonly stores?: readonly StoreOptions[]
  readonly keys: readonly AccessKey[]
  readonly lanes: readonly LaneOptions[]
  /** Reads the lanes of the store, which are served beside `lanes`. Absent: it has none. */
  readonly storedLanes?: StoredLaneReader<LaneOptions>
  /** Delivery without an operator, for the lanes with the provider 'own'. */
  readonly own?: OwnDeliveryOptions
  /** Queues and topics with activity request records, in addition to POST /admin/activities/CHANNEL. */
  readonly intake?: readonly IntakeSource[]
  /** Queues and topics with device links (§4.3), in addition to the two endpoints. */
  readonly deviceLinks?: readonly LinkSource[]
  /** The most devices of one user. Default: 200. */
  readonly devicesPerUser?: number
  /** The operators' attributes that are compared with the CRM's attributes. */
  readonly reconciliation?: readonly ReconciliationOptions[]
  /** Tells a person of troubles: docs/monitoring.md. */
  readonly alerts?: AlertsOptions
  /** The largest body of a JSON request, in bytes. NDJSON streams have no limit. Default: 16 MiB. */
  readonly bodyBytes?: number
  /** The memory for all request bodies together, in bytes. Default: 256 MiB. */
  readonly bodyBytesInFlight?: number
  /** Limits that only a test changes. */
  readonly testing?: {
    /** The longest time for a request body to arrive. Default: 30 seconds. */
    readonly bodyTimeoutMs?: number
    /** How long a status waits for its identifier, before it is parked. Default: 1 hour. */
    readonly statusWaitMs?: number
  }
}
