// The devices of a stand-in, with the notifications that they show, and the notifications stored while they are offline.

import type { Devices, PendingNotification, ShownNotification } from './stand-in.ts'

/** One notification for a device. */
export interface PushNotification extends PendingNotification {
  /** Epoch milliseconds: it is not stored any longer. */
  readonly expiresAt: number
}

/** A stand-in may run for days, so a device shows only its newest notifications. */
const mostShown = 10_000

export interface DeviceStoreOptions {
  /** Stores a notification for an offline device. The real services have different limits. */
  readonly keep: (kept: readonly PushNotification[], notification: PushNotification) => readonly PushNotification[]
  readonly clock: () => number
}

export interface DeviceStore<Kind> extends Devices {
  add(token: string, kind: Kind, online?: boolean): void
  /** The kind of the device with this token. `goneSince`: since when the token is invalid. */
  find(token: string): { readonly kind: Kind; readonly goneSince?: number } | undefined
  deliver(token: string, notification: PushNotification): void
}

interface DeviceState<Kind> {
  readonly kind: Kind
  online: boolean
  goneSince?: number
  kept: readonly PushNotification[]
  /** By tag; a notification without a tag has a key of its own. */
  readonly shown: Map<string | symbol, ShownNotification>
}

export function createDeviceStore<Kind>({ keep, clock }: DeviceStoreOptions): DeviceStore<Kind> {
  const devices = new Map<string, DeviceState<Kind>>()
  const listeners = new Set<(token: string, shown: ShownNotification) => void>()

  function show(token: string, device: DeviceState<Kind>, { expiresAt: _, ...notification }: PushNotification): void {
    const key = notification.tag ?? Symbol()
    const { replaced = -1 } = device.shown.get(key) ?? {}
    const shown: ShownNotification = { at: clock(), ...notification, replaced: replaced + 1 }
    device.shown.set(key, shown)
    if (device.shown.size > mostShown) device.shown.delete(device.shown.keys().next().value as string | symbol)
    for (const listener of listeners) listener(token, shown)
  }

  return {
    add(token, kind, online = true) {
      devices.set(token, { kind, online, kept: [], shown: new Map() })
    },
    find: (token) => devices.get(token),
    deliver(token, notification) {
      const device = devices.get(token)
      if (!device) return
      if (device.online) show(token, device, notification)
      else if (notification.expiresAt > clock()) device.kept = keep(device.kept, notification)
    },
    shown: (token) => [...(devices.get(token)?.shown.values() ?? [])],
    kept: (token) => devices.get(token)?.kept.filter(({ expiresAt }) => expiresAt > clock()) ?? [],
    onShown(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    setOnline(token, online) {
      const device = devices.get(token)
      if (!device) return
      device.online = online
      if (!online) return
      const now = clock()
      const { kept } = device
      device.kept = []
      for (const notification of kept) if (notification.expiresAt > now) show(token, device, notification)
    },
    forget(token) {
      const device = devices.get(token)
      if (device) device.goneSince = clock()
    },
  }
}
