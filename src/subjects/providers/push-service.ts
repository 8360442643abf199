// A push service reaches single devices. It is one level below a Provider: delivery/devices.ts is the Delivery that sends a message to all devices of its user.

import type { Check } from '../../base/runtime/check.ts'
import type { PushContent } from '../../contract/content.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Device } from '../devices/device.ts'
import type { Presentation } from './presentation.ts'
import type { SendContext } from './provider.ts'

/** One message for one device. */
export interface Push {
  /** push_id, the same on every attempt. It is also the collapse identity (docs/contributing/decisions.md), so a person sees the message once. */
  readonly ref: string
  readonly device: Device
  readonly content: PushContent
  /** How the device presents the message, where its content does not say so. */
  readonly presentation?: Presentation
  /** Epoch milliseconds: the device does not show the message later. */
  readonly expiresAt: number
  /** The trace of its message (W3C Trace Context). */
  readonly traceparent?: string | undefined
}

export type DeviceAnswer = Outcome & {
  /**
   * The service's verdict about the token, if any. gone: the token is no longer valid. mismatch: the token does not belong to
   * this credential (another project or environment, or malformed); it is evidence only if the credential is proven.
   */
  readonly token?: 'gone' | 'mismatch'
  /** With gone: the token has been invalid since this time (epoch ms). A link made later stays. */
  readonly goneSince?: number
  /**
   * The answer concerns one counterpart, or some of its recipients: only the counterpart is paused, and if the answer is
   * 'misconfigured', only until the counterpart accepted a send. With 'mismatch': the evidence is that of the counterpart. Absent: it
   * concerns the whole service.
   */
  readonly concerns?: 'counterpart'
  /** The provider's own identifier of the message. */
  readonly providerId?: string
}

/**
 * Reaches devices with one credential: FCM, APNs, Web Push or an HTTP provider. An outcome with blame 'provider' and reason
 * 'misconfigured' means that our own credential is wrong: the service is paused, and no message is failed. With blame 'message' it
 * means that some recipients cannot be reached before a person acts: nothing is paused.
 *
 * @example
 * const answer = await fcm(options).send({ ref, device, content, expiresAt }, { deadline, signal })
 * // { category: 'failed', reason: 'rejected', token: 'gone', rule: 'fcm 404 UNREGISTERED', error: '…' }
 */
export interface PushService {
  /** Name of the credential in the configuration. It is unique among push services. */
  readonly name: string
  /** Whether the service can reach this device, by its kind, app and environment. */
  reaches(device: Device): boolean
  /**
   * The counterpart that answers for this device: a vendor's push service, an environment, an app. Evidence about the credential is
   * kept for each counterpart. Default: there is one counterpart.
   */
  counterpartOf?(device: Device): string
  /** Maximum number of sends in flight. */
  readonly concurrency: number
  /** Maximum number of sends in flight to one counterpart, so that one that hangs leaves room for the others. Default: no limit. */
  readonly perCounterpart?: number
  /** Maximum number of sends in a second, in each process. Default: no limit, until the service refuses a send for its quota. */
  readonly perSecond?: number | undefined
  /**
   * Sends one push, and resolves no later than `deadline` (epoch ms). The caller turns a rejection into fatal. `signal` aborts
   * only when the process is stopping, so that many sends can share it.
   */
  send(push: Push, context: SendContext): Promise<DeviceAnswer>
  /** Checks keys, project, topic, clock and reachability for `bellwire doctor`. */
  check?(): Promise<readonly Check[]>
  close?(): Promise<void>
}
