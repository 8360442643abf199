// The checks of a push to a device, after its wait for the push service and before the call (docs/contributing/decisions.md).

import { refuseFailed } from '../contract/refusals.ts'
import type { Device } from '../devices/device.ts'
import type { DeviceSource } from '../devices/device-source.ts'
import type { DeviceAnswer } from '../providers/push-service.ts'
import type { DeliveryContext } from './delivery.ts'
import type { Freshness } from './freshness.ts'
import type { SendChecks } from './service-guard.ts'

/** Checks that the device was read recently, and that this process still owns the message. */
export class DeviceSendChecks implements SendChecks {
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

  findRefusal(): ReturnType<SendChecks['findRefusal']> {
    // Another process may have unlinked it.
    const refreshing = this.#source.refresh?.(this.#device)
    return refreshing ? refreshing.then(() => this.#freshness.check(this.#device)) : this.#freshness.check(this.#device)
  }

  findLateRefusal(): DeviceAnswer | undefined {
    return this.#source.isRevoked?.(this.#device) ? refuseFailed('unlinked_in_transit') : this.#fence()
  }
}
