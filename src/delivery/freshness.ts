// A push may wait for its turn: what was read before the wait is read again if that took over a second (design §5.3).

import type { Failed, Fatal } from '../contract/outcome.ts'
import type { Device } from '../devices/device.ts'
import type { Message, SendContext } from '../providers/provider.ts'
import type { DeviceAnswer } from '../providers/push-service.ts'
import { revoked, sourceDown } from './device-refusals.ts'
import type { Targets } from './targets.ts'

const staleMs = 1_000

/** Undefined: the device may still be sent to. Nearly always known at once. */
export type Fresh = (device: Device) => DeviceAnswer | undefined | Promise<DeviceAnswer | undefined>

/** Asks again who may be messaged and where when the answer has grown old; the devices of one message ask together. */
export function watchFresh(
  message: Message,
  { judge }: SendContext,
  lookedAt: number,
  find: () => Promise<Targets>,
): Fresh {
  let at = lookedAt
  let still: ReadonlySet<string> | undefined
  let refusal: Failed | Fatal | undefined
  let asking: Promise<void> | undefined
  async function lookAgain(): Promise<void> {
    const now = Date.now()
    try {
      const [verdict, found] = await Promise.all([judge?.(message), find()])
      refusal = verdict
      still = new Set(found.devices.map(({ token }) => token))
    } catch (error) {
      refusal = sourceDown(error)
    }
    at = now
    asking = undefined
  }
  const known = (token: string): DeviceAnswer | undefined =>
    refusal ?? (still === undefined || still.has(token) ? undefined : revoked)
  return ({ token }) => {
    if (refusal !== undefined || Date.now() - at <= staleMs) return known(token)
    asking ??= lookAgain()
    return asking.then(() => known(token))
  }
}
