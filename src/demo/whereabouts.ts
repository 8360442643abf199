// Where a push is that its push service has taken. Pure.

import type { Phone, Phones } from './phones.ts'

export interface Whereabouts {
  /** Those that show it. */
  readonly on: readonly Phone[]
  /** Those that are away and will show it on their return. */
  readonly waitsFor: readonly Phone[]
}

/** What collapses is a message: on a device its push_id is its tag. */
export function findPush(ref: string, { list, shown, kept }: Phones): Whereabouts {
  const has = ({ tag }: { readonly tag?: string }): boolean => tag === ref
  return {
    on: list.filter((phone) => shown(phone).some(has)),
    waitsFor: list.filter((phone) => kept(phone).some(has)),
  }
}

export const serviceLabels = { fcm: 'FCM', apns: 'APNs', 'web-push': 'Web Push' } as const

/** @example inWords({ on: [laptop], waitsFor: [phone] }) // 'on the laptop, waits at FCM for the Android phone' */
export function inWords({ on, waitsFor }: Whereabouts): string {
  const parts = [
    ...(on.length > 0 ? [`on the ${on.map(({ name }) => name).join(' and the ')}`] : []),
    ...waitsFor.map(({ name, service }) => `waits at ${serviceLabels[service]} for the ${name}, which is offline`),
  ]
  return parts.join(', ') || 'never shown: while the device was offline, newer ones took its place'
}
