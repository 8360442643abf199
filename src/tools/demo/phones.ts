// The devices of the demo's people. The stand-ins of the push services determine the notifications that they show.

import { on } from '../../base/runtime/events.ts'
import type { DeviceTokenRecord } from '../../contract/device-events.ts'
import { deviceId } from '../../subjects/devices/identity.ts'
import type { ServiceName, StandIns } from '../stand-ins/all.ts'
import type { PendingNotification, ShownNotification } from '../stand-ins/stand-in.ts'
import { brands } from './cast.ts'
import { appOf } from './push-services.ts'

/** A phone, or the browser on a laptop. */
export interface Phone {
  readonly id: string
  readonly brand: string
  readonly userId: string
  readonly owner: string
  readonly name: string
  readonly service: ServiceName
  readonly online: boolean
  /** The record that links the device to its owner. */
  readonly link: DeviceTokenRecord
}

/** A change of the connection, or of the shown or stored notifications. */
export type Change = 'connection' | 'content'

export interface Phones {
  readonly list: readonly Phone[]
  of(brand: string, userId: string): readonly Phone[]
  /** The shown notifications, oldest first. */
  shown(phone: Phone): readonly ShownNotification[]
  /** The notifications that the push service stores while the phone is offline, oldest first. */
  kept(phone: Phone): readonly PendingNotification[]
  /** @returns the phone, or undefined if it does not exist */
  setOnline(id: string, online: boolean): Phone | undefined
  onChange(listener: (phone: Phone, change: Change) => void): () => void
  stop(): void
}

type MutablePhone = { -readonly [Property in keyof Phone]: Phone[Property] }

/** Makes the devices of all people. They are not linked yet. */
export function createPhones(standIns: StandIns): Phones {
  const list = makePhones(standIns)
  const byToken = new Map(list.map((phone) => [phone.link.token, phone]))
  const byDevice = new Map(list.map((phone) => [deviceId(phone.link.token), phone]))
  const listeners = new Set<(phone: Phone, change: Change) => void>()
  const notify = (phone: Phone | undefined, change: Change): void => {
    if (phone) for (const listener of listeners) listener(phone, change)
  }
  const unsubscribe = [
    ...services.map((service) => standIns[service].onShown((token) => notify(byToken.get(token), 'content'))),
    // A push service has accepted a push, and stores it if the phone is offline.
    on('device.sent', ({ device }) => {
      const phone = byDevice.get(device)
      if (phone?.online === false) notify(phone, 'content')
    }),
  ]

  return {
    list,
    of: (brand, userId) => list.filter((phone) => phone.brand === brand && phone.userId === userId),
    shown: ({ service, link }) => standIns[service].shown(link.token),
    kept: ({ service, link }) => standIns[service].kept(link.token),
    setOnline(id, online) {
      const phone = list.find((each) => each.id === id)
      if (!phone || phone.online === online) return phone
      phone.online = online
      notify(phone, 'connection')
      standIns[phone.service].setOnline(phone.link.token, online)
      return phone
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    stop() {
      for (const end of unsubscribe) end()
    },
  }
}

const services = ['fcm', 'apns', 'web-push'] as const

function makePhones(standIns: StandIns): readonly MutablePhone[] {
  return brands.flatMap(({ id: brand, users }) =>
    users.flatMap(({ id: userId, name: owner, devices }) =>
      devices.map(({ name, service, offline }, i): MutablePhone => {
        const online = offline !== true
        const { link } = standIns.addDevice({ service, app: appOf(brand), online, name: `${owner}, ${name}` })
        return { id: `${brand}/${userId}/${i + 1}`, brand, userId, owner, name, service, online, link }
      }),
    ),
  )
}
