// What a push does when its turn has come at its service, before it leaves (design §5.3).

import type { Device } from '../devices/device.ts'
import type { DeviceSource } from '../devices/device-source.ts'
import type { DeviceAnswer } from '../providers/push-service.ts'
import type { DeliveryContext } from './delivery.ts'
import { revoked } from './device-refusals.ts'
import type { Freshness } from './freshness.ts'
import type { Leaving } from './service-guard.ts'

/** The checks before a push leaves: the device was read recently, and this process still owns the message. */
export class LeavingDevice implements Leaving {
  readonly #source: DeviceSource
  readonly #device: Device
  readonly #freshness: Freshness
  readonly #fence: DeliveryContext['fence']

  constructor(source: DeviceSource, device: Device, freshness: Freshness, fence: DeliveryContext['fence']) {
    this.#source = source
    this.#device = device
    this.#freshness = freshness
    this.#fence = fence
  }

  refused(): ReturnType<Leaving['refused']> {
    // Another process may have unlinked it.
    const refreshing = this.#source.refresh?.(this.#device)
    return refreshing ? refreshing.then(() => this.#freshness.of(this.#device)) : this.#freshness.of(this.#device)
  }

  veto(): DeviceAnswer | undefined {
    return this.#source.revoked?.(this.#device) ? revoked : this.#fence()
  }
}
