// A push may wait for its turn: what was read before the wait is read again if that took over a second (design §5.3).

import type { Failed, Fatal } from '../contract/outcome.ts'
import type { Device } from '../devices/device.ts'
import type { Message } from '../providers/provider.ts'
import type { DeviceAnswer } from '../providers/push-service.ts'
import type { DeliveryContext } from './delivery.ts'
import { revoked, sourceDown } from './device-refusals.ts'
import type { Targets } from './targets.ts'

const staleMs = 1_000

/** Asks again who may be messaged and where when the answer has grown old; the devices of one message ask together. */
export class Freshness {
  readonly #message: Message
  readonly #judge: DeliveryContext['judge']
  readonly #find: () => Promise<Targets>
  #at: number
  #still: ReadonlySet<string> | undefined
  #refusal: Failed | Fatal | undefined
  #asking: Promise<void> | undefined

  /** @param at when `find` was asked last, epoch ms */
  constructor(message: Message, { judge }: DeliveryContext, at: number, find: () => Promise<Targets>) {
    this.#message = message
    this.#judge = judge
    this.#at = at
    this.#find = find
  }

  /** Undefined: the device may still be sent to. Nearly always known at once. */
  of({ token }: Device): DeviceAnswer | undefined | Promise<DeviceAnswer | undefined> {
    if (this.#refusal !== undefined || Date.now() - this.#at <= staleMs) return this.#known(token)
    this.#asking ??= this.#lookAgain()
    return this.#asking.then(() => this.#known(token))
  }

  #known(token: string): DeviceAnswer | undefined {
    return this.#refusal ?? (this.#still === undefined || this.#still.has(token) ? undefined : revoked)
  }

  async #lookAgain(): Promise<void> {
    const now = Date.now()
    try {
      const [verdict, found] = await Promise.all([this.#judge(this.#message), this.#find()])
      this.#refusal = verdict
      this.#still = new Set(found.devices.map((device) => device.token))
    } catch (error) {
      this.#refusal = sourceDown(error)
    }
    this.#at = now
    this.#asking = undefined
  }
}
