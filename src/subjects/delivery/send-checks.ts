// The checks of a push to a device, after its wait for the push service and before the call (docs/contributing/decisions.md).

import { clock } from '../../base/runtime/clock.ts'
import type { Failed, Fatal } from '../../contract/outcome.ts'
import { refuseFailed } from '../../contract/refusals.ts'
import type { Device } from '../devices/device.ts'
import type { DeviceSource } from '../devices/device-source.ts'
import { staleMs } from '../providers/guard.ts'
import type { Message } from '../providers/provider.ts'
import type { DeviceAnswer } from '../providers/push-service.ts'
import type { DeliveryContext } from './delivery.ts'
import { sourceDown } from './device-refusals.ts'
import type { SendChecks } from './service-guard.ts'
import type { Targets } from './targets.ts'

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

/** Reads suppression and devices again when the last answer is old. The devices of one message share one read. */
export class Freshness {
  readonly #message: Message
  readonly #checkMessage: DeliveryContext['checkMessage']
  readonly #findTargets: () => Promise<Targets>
  #readAt: number
  #linkedTokens: ReadonlySet<string> | undefined
  #refusal: Failed | Fatal | undefined
  #reading: Promise<void> | undefined

  /** @param readAt the time of the last call of `find`, by the monotonic clock */
  constructor(message: Message, { checkMessage }: DeliveryContext, readAt: number, find: () => Promise<Targets>) {
    this.#message = message
    this.#checkMessage = checkMessage
    this.#readAt = readAt
    this.#findTargets = find
  }

  /** Undefined: the message may still be sent to the device. Nearly always without a promise. */
  check({ token }: Device): DeviceAnswer | undefined | Promise<DeviceAnswer | undefined> {
    if (this.#refusal !== undefined || clock.monotonic() - this.#readAt <= staleMs) return this.#answerFor(token)
    this.#reading ??= this.#readAgain()
    return this.#reading.then(() => this.#answerFor(token))
  }

  #answerFor(token: string): DeviceAnswer | undefined {
    if (this.#refusal) return this.#refusal
    return this.#linkedTokens === undefined || this.#linkedTokens.has(token)
      ? undefined
      : refuseFailed('unlinked_in_transit')
  }

  async #readAgain(): Promise<void> {
    const now = clock.monotonic()
    try {
      const [refusal, targets] = await Promise.all([this.#checkMessage(this.#message), this.#findTargets()])
      this.#refusal = refusal
      this.#linkedTokens = new Set(targets.devices.map((device) => device.token))
    } catch (error) {
      this.#refusal = sourceDown(error)
    }
    this.#readAt = now
    this.#reading = undefined
  }
}
