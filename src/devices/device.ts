/**
 * What a device's token is, and so which push services can reach it: 'fcm_token' and 'fcm_fid' (FCM registration tokens and
 * Firebase installation ids), 'apns', 'webpush', or 'http:NAME' for a provider of the operator's own choice.
 */
export type DeviceKind = 'fcm_token' | 'fcm_fid' | 'apns' | 'webpush' | `http:${string}`

/** Something that belongs to a user of a brand and that a push provider can reach by a token. */
export interface Device {
  readonly brand: string
  readonly userId: string
  readonly kind: DeviceKind
  /** As the provider knows it. Web Push: the PushSubscription as JSON text. Never logged. */
  readonly token: string
  /** deviceId(token), where it is known already. */
  readonly id?: string
  /** The app it belongs to: a bundle id (APNs topic), a package name. */
  readonly app?: string
  /** APNs: which of its two worlds the token is from; absent: not known. */
  readonly environment?: 'production' | 'sandbox'
  /** The timestamp of the link that is in force, as the registry keeps it: a removal is taken only if it is still this one. */
  readonly linkedAt: string
}
