import type { Judge } from '../devices/device-event.ts'
import type { LinkChannel } from '../devices/link-channels.ts'
import type { AccessKey } from '../http/access.ts'
import type { BodyLimits } from '../http/request-bodies.ts'
import type { LaneShape } from '../providers/operator-api.ts'
import type { Channel, Provider } from '../providers/provider.ts'
import type { ReconciliationOptions } from '../reconcile/options.ts'

/** One lane per brand and channel: where its messages go, and how (§4.1 rule 3, §8.2). */
export interface LaneOptions {
  readonly brand: string
  readonly channel: Channel
  /** Usually operatorApi(), which is made for the lane; or a provider of yours. */
  readonly provider: Provider | ((lane: LaneShape) => Provider)
  /** One message in a request, or a batch. */
  readonly mode: 'single' | 'batch'
  /** A batch goes when it has so many messages, or so many bytes, or when its first message has waited so long. */
  readonly max?: number
  readonly bytes?: number
  readonly spanMs?: number
  /** Calls at a time. */
  readonly concurrency?: number
  readonly perSecond?: number
  readonly timeoutMs?: number
  /** Failed Actions on or off (§6.4). */
  readonly failedActions?: boolean
  readonly retry?: { readonly firstMs?: number; readonly mostMs?: number; readonly attempts?: number }
}

export interface PlatformOptions {
  /** 'sqlite:PATH' or 'postgres://…'. Never the operator's. */
  readonly store: string
  readonly keys: readonly AccessKey[]
  /** Where operators reach this platform ({platform_url}), for /docs and /openapi.json. Left out: where these are served. */
  readonly publicUrl?: string
  readonly lanes: readonly LaneOptions[]
  /** Queues and topics that bring device links (§4.3), beside the two endpoints. */
  readonly deviceLinks?: readonly LinkChannel[]
  /** Whether a Web Push subscription may be linked: its endpoint comes from a stranger. Says why not. */
  readonly judgeDevice?: Judge
  /** Most devices that one user has. 200. */
  readonly devicesPerUser?: number
  /** Operators' lists that are compared with the CRM's own attributes. */
  readonly reconciliation?: readonly ReconciliationOptions[]
  /** How long settled items and calls are kept, in milliseconds; 90 days, the least that row 29 asks for. */
  readonly keptMs?: number
  /** Largest body of a JSON request, in bytes. NDJSON streams have no limit. */
  readonly bodyBytes?: number
  /** The memory for all request bodies together, and the time in which one must arrive. */
  readonly bodies?: Partial<BodyLimits>
}
