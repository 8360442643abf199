// The counterparts of one push service: the vendors of Web Push by their origins, APNs by environment and topic, the apps of FCM.
// Each has its own evidence and its own pause, so that the trouble of one is not charged to the others.

import { type AlertLimit, createAlertLimit } from '../../base/runtime/alert-limit.ts'
import { type Breaker, type BreakerOptions, createBreaker } from '../../base/runtime/breaker.ts'
import type { Fatal } from '../../contract/outcome.ts'
import type { Device } from '../devices/device.ts'

/** What can be paused: a whole push service, or one counterpart of it. */
export interface Circuit {
  /** 'fcm', 'web-push https://web.push.apple.com' */
  readonly name: string
  /** Absent: the whole service. */
  readonly counterpart?: string
  readonly breaker: Breaker
  /** The answer that paused it. */
  cause?: Pick<Fatal, 'reason' | 'error'>
  readonly alerts: AlertLimit
}

export interface Counterpart extends Circuit {
  readonly counterpart: string
  /** It accepted a send since the credential was loaded. */
  proven: boolean
  inFlight: number
  /** Its last answer, or the start of the first send in flight. On the monotonic clock. */
  quietSince: number
  /** Users whose tokens it refused, while it is not proven, since the last other answer. */
  readonly refusedUsers: Set<string>
}

export interface Counterparts {
  of(device: Device): Counterpart
  /** The counterparts that were sent to, the most recent ones last. */
  readonly known: ReadonlyMap<string, Counterpart>
}

/** Origins of Web Push are user input. The counterpart that was used least recently is forgotten, with its evidence. */
const mostCounterparts = 256

export function createCircuit(name: string, options: BreakerOptions): Circuit {
  return { name, breaker: createBreaker(options), alerts: createAlertLimit() }
}

/** @param counterpartOf see PushService */
export function createCounterparts(
  service: string,
  counterpartOf: (device: Device) => string,
  options: BreakerOptions,
): Counterparts {
  const known = new Map<string, Counterpart>()
  return {
    known,
    of(device) {
      const counterpart = counterpartOf(device)
      const found = known.get(counterpart) ?? {
        ...createCircuit(`${service} ${counterpart}`.trimEnd(), options),
        counterpart,
        proven: false,
        inFlight: 0,
        quietSince: 0,
        refusedUsers: new Set<string>(),
      }
      if (known.size > 1) known.delete(counterpart)
      known.set(counterpart, found)
      if (known.size > mostCounterparts) known.delete(known.keys().next().value as string)
      return found
    },
  }
}
