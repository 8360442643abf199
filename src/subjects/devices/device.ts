/**
 * The kind of a device's token, which decides which push services can reach it: 'fcm_token' and 'fcm_fid' (FCM registration
 * tokens and Firebase installation ids), 'apns', 'webpush', or 'http:NAME' for a provider of the operator's own choice.
 */
export type DeviceKind = 'fcm_token' | 'fcm_fid' | 'apns' | 'webpush' | `http:${string}`

/** A telephone or browser of one user of a brand, which a push provider reaches by its token. */
export interface Device {
  readonly brand: string
  readonly userId: string
  readonly kind: DeviceKind
  /** The token issued by the provider; for Web Push, the PushSubscription as JSON text. Never logged. */
  readonly token: string
  /** deviceId(token), if it was computed before. */
  readonly id?: string
  /** The app it belongs to: a bundle id (APNs topic), a package name. */
  readonly app?: string
  /** The APNs environment of the token. Absent: unknown. */
  readonly environment?: 'production' | 'sandbox'
  /** The timestamp of the current link in the registry. A removal applies only if the link still has this timestamp. */
  readonly linkedAt: string
  /** Linked by its user's app, and no push service has accepted a push to it since. Such a token may be made up. */
  readonly unproven?: true
}
