// Finds the devices that have a push which its push service accepted. Pure.

import type { Phone, Phones } from './phones.ts'

export interface PushLocation {
  /** Devices that show the push. */
  readonly on: readonly Phone[]
  /** Offline devices that will show the push when they are online again. */
  readonly waitsFor: readonly Phone[]
}

/** Finds a push by its push_id, which is its tag on a device. */
export function findPush(ref: string, { list, shown, kept }: Phones): PushLocation {
  const has = ({ tag }: { readonly tag?: string }): boolean => tag === ref
  return {
    on: list.filter((phone) => shown(phone).some(has)),
    waitsFor: list.filter((phone) => kept(phone).some(has)),
  }
}

export const serviceLabels = { fcm: 'FCM', apns: 'APNs', 'web-push': 'Web Push' } as const

/** @example describeLocation({ on: [laptop], waitsFor: [phone] }) // 'on the laptop, waits at FCM for the iPhone, which is offline' */
export function describeLocation({ on, waitsFor }: PushLocation): string {
  const parts = [
    ...(on.length > 0 ? [`on the ${on.map(({ name }) => name).join(' and the ')}`] : []),
    ...waitsFor.map(({ name, service }) => `waits at ${serviceLabels[service]} for the ${name}, which is offline`),
  ]
  return parts.join(', ') || 'never shown: a newer push replaced it while the device was offline'
}
