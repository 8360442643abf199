// A push may wait before it is sent. After a wait of over a second, suppression and devices are read again (docs/contributing/decisions.md).

import type { Failed, Fatal } from '../contract/outcome.ts'
import { refuseFailed } from '../contract/refusals.ts'
import type { Device } from '../devices/device.ts'
import type { Message } from '../providers/provider.ts'
import type { DeviceAnswer } from '../providers/push-service.ts'
import { clock } from '../runtime/clock.ts'
import type { DeliveryContext } from './delivery.ts'
import { sourceDown } from './device-refusals.ts'
import type { Targets } from './targets.ts'

const staleMs = 1_000

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
