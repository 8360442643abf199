// The devices of the cast. What they show is what the stand-ins of the push services say that they show.

import type { DeviceTokenRecord } from '../contract/device-events.ts'
import { deviceId } from '../devices/identity.ts'
import { on } from '../runtime/events.ts'
import type { ServiceName, StandIns } from '../stand-ins/all.ts'
import type { Kept, Shown } from '../stand-ins/stand-in.ts'
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
  /** What links it to its owner. */
  readonly link: DeviceTokenRecord
}

/** What has changed: the connection, or what is shown or waits to be shown. */
export type Change = 'connection' | 'content'

export interface Phones {
  readonly list: readonly Phone[]
  of(brand: string, userId: string): readonly Phone[]
  /** Oldest first. */
  shown(phone: Phone): readonly Shown[]
  /** What its push service keeps until it is back, oldest first. */
  kept(phone: Phone): readonly Kept[]
  /** @returns undefined where there is no such phone */
  setOnline(id: string, online: boolean): Phone | undefined
  onChange(listener: (phone: Phone, what: Change) => void): () => void
  stop(): void
}

type Held = { -readonly [Property in keyof Phone]: Phone[Property] }

/** Gives everybody of the cast their devices. To link them is their owners' business. */
export function createPhones(standIns: StandIns): Phones {
  const list = handOut(standIns)
  const byToken = new Map(list.map((phone) => [phone.link.token, phone]))
  const byDevice = new Map(list.map((phone) => [deviceId(phone.link.token), phone]))
  const listeners = new Set<(phone: Phone, what: Change) => void>()
  const changed = (phone: Phone | undefined, what: Change): void => {
    if (phone) for (const listener of listeners) listener(phone, what)
  }
  const ends = [
    ...services.map((service) => standIns[service].onShown((token) => changed(byToken.get(token), 'content'))),
    // A push service has taken a push; it may have kept it.
    on('device.sent', ({ device }) => {
      const phone = byDevice.get(device)
      if (phone?.online === false) changed(phone, 'content')
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
      changed(phone, 'connection')
      standIns[phone.service].setOnline(phone.link.token, online)
      return phone
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    stop() {
      for (const end of ends) end()
    },
  }
}

const services = ['fcm', 'apns', 'web-push'] as const

function handOut(standIns: StandIns): readonly Held[] {
  return brands.flatMap(({ id: brand, users }) =>
    users.flatMap(({ id: userId, name: owner, devices }) =>
      devices.map(({ name, service, away }, i): Held => {
        const online = away !== true
        const { link } = standIns.addDevice({ service, app: appOf(brand), online, name: `${owner}, ${name}` })
        return { id: `${brand}/${userId}/${i + 1}`, brand, userId, owner, name, service, online, link }
      }),
    ),
  )
}
