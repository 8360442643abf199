// What a push does when its turn has come at its service, before it leaves (design §5.3).

import type { Device } from '../devices/device.ts'
import type { DeviceSource } from '../devices/device-source.ts'
import type { MayLeave, Message, SendContext } from '../providers/provider.ts'
import type { DeviceAnswer } from '../providers/push-service.ts'
import { revoked } from './device-refusals.ts'
import type { Freshness } from './freshness.ts'
import type { Leaving } from './service-guard.ts'

/** That a message leaves is written down once, when its turn has come at the first of its devices. */
export class Departure {
  readonly #message: Message
  readonly #context: SendContext
  #departing: Promise<MayLeave> | undefined

  constructor(message: Message, context: SendContext) {
    this.#message = message
    this.#context = context
  }

  begin(): Promise<MayLeave> | undefined {
    this.#departing ??= this.#context.depart?.(this.#message)
    return this.#departing
  }
}

/** Before a push leaves: what was read is not old, and the message is marked as leaving. */
export class LeavingDevice implements Leaving {
  readonly #source: DeviceSource
  readonly #device: Device
  readonly #freshness: Freshness
  readonly #departure: Departure

  constructor(source: DeviceSource, device: Device, freshness: Freshness, departure: Departure) {
    this.#source = source
    this.#device = device
    this.#freshness = freshness
    this.#departure = departure
  }

  refused(): ReturnType<Leaving['refused']> {
    return this.#freshness.of(this.#device)
  }

  depart(): Promise<MayLeave | undefined> | undefined {
    const departing = this.#departure.begin()
    const refreshing = this.#source.refresh?.(this.#device)
    return refreshing ? Promise.all([departing, refreshing]).then(([mayLeave]) => mayLeave) : departing
  }

  veto(): DeviceAnswer | undefined {
    return this.#source.revoked?.(this.#device) ? revoked : undefined
  }
}
