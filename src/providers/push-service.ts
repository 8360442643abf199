// One level below a Provider: what reaches one device. delivery/devices.ts is the Provider that fans a message out.

import type { PushContent } from '../contract/content.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { Device } from '../devices/device.ts'
import type { Check, SendContext } from './provider.ts'

/** One message for one device. */
export interface Push {
  /** push_id: on every attempt the same, so it is the collapse identity too (design §5.5): a person sees it once. */
  readonly ref: string
  readonly device: Device
  readonly content: PushContent
  /** Epoch milliseconds: not shown after that. Every push has one. */
  readonly expiresAt: number
}

export type DeviceAnswer = Outcome & {
  /**
   * What the answer says of the token. gone: the provider no longer knows it. mismatch: it is not one of this credential's
   * (another project, environment, malformed), which proves something only once the credential is known to be right.
   * Absent: nothing.
   */
  readonly token?: 'gone' | 'mismatch'
  /** With gone: the provider knows it to be gone since then (epoch ms); a link made later is another one and stays. */
  readonly goneSince?: number
  /** The provider's own identifier of the message. */
  readonly providerId?: string
}

/**
 * Reaches one device through one credential: FCM, APNs, Web Push, a provider over HTTP. An outcome with blame 'provider' and
 * reason 'misconfigured' says that our own credential is wrong: sending through it pauses and no message is burned.
 *
 * @example
 * const answer = await fcm(options).send({ ref, device, content, expiresAt }, { deadline, signal })
 * // { category: 'failed', reason: 'rejected', token: 'gone', rule: 'fcm 404 UNREGISTERED', error: '…' }
 */
export interface PushService {
  /** The credential's name in the configuration; unique among services. */
  readonly name: string
  /** Whether it can reach this device: by kind, app and environment. */
  reaches(device: Device): boolean
  /** Most sends at a time. */
  readonly concurrency: number
  /**
   * May throw: the caller turns that into fatal. Never answers later than `deadline` (epoch ms); `signal` aborts only when the process
   * is stopping, so that many sends share one.
   */
  send(push: Push, context: SendContext): Promise<DeviceAnswer>
  /** What `bellwire doctor` shows: keys, project, topic, clock, reachability. */
  check?(): Promise<readonly Check[]>
  close?(): Promise<void>
}
