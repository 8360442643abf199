// Push services and a device source for tests. They record the messages that they receive, and the test chooses the answers.

import type { Fatal } from '../../src/contract/outcome.ts'
import type { Device, DeviceKind } from '../../src/subjects/devices/device.ts'
import type { DeviceSource, Holder } from '../../src/subjects/devices/device-source.ts'
import type { DeviceAnswer, Push, PushService } from '../../src/subjects/providers/push-service.ts'

export const accepted: DeviceAnswer = { category: 'successful', rule: 'accepted', providerId: 'p-1' }
export const gone: DeviceAnswer = { category: 'failed', reason: 'rejected', rule: '410', error: 'gone', token: 'gone' }
/** The answer for FCM's SENDER_ID_MISMATCH and APNs' BadDeviceToken. */
export const mismatch: DeviceAnswer = {
  category: 'failed',
  reason: 'rejected',
  rule: '403',
  error: 'not one of this project',
  token: 'mismatch',
}
export const away: DeviceAnswer & Fatal = {
  category: 'fatal',
  reason: 'unavailable',
  blame: 'provider',
  rule: '503',
  error: 'away',
}
export const wrongKey: DeviceAnswer & Fatal = { ...away, reason: 'misconfigured', rule: '401', error: 'wrong key' }

export interface WitnessService extends PushService {
  readonly received: Push[]
}

/** A push service for one kind of device. `answer` chooses the answer to each push; by default all are accepted. */
export function witnessService(
  kind: DeviceKind,
  answer: (push: Push) => DeviceAnswer | Promise<DeviceAnswer> = () => accepted,
  { name = kind as string, concurrency = 100 } = {},
): WitnessService {
  const received: Push[] = []
  return {
    name,
    concurrency,
    received,
    reaches: (device) => device.kind === kind,
    async send(push) {
      received.push(push)
      return answer(push)
    },
  }
}

export function device(over: Partial<Device> = {}): Device {
  return { brand: '1', userId: '1001', kind: 'apns', token: 'a-1', linkedAt: '2026-01-01T00:00:00.000001Z', ...over }
}

export interface DeviceBook extends DeviceSource {
  readonly devices: Device[]
  /** `brand token` of tokens that were linked once and now belong to nobody. */
  readonly unlinked: Set<string>
  /** The devices that the send path unlinked, with the reasons. */
  readonly dropped: { readonly device: Device; readonly why: string }[]
  /** The brand and user ids of each look-up. */
  readonly asked: (readonly string[])[]
}

/** A device source in memory. */
export function deviceBook(devices: readonly Device[]): DeviceBook {
  const book: DeviceBook = {
    name: 'book',
    devices: [...devices],
    unlinked: new Set(),
    dropped: [],
    asked: [],
    async findDevices(brand, users) {
      book.asked.push([brand, ...users])
      return Map.groupBy(
        book.devices.filter((each) => each.brand === brand && users.includes(each.userId)),
        (each) => each.userId,
      )
    },
    async findHolders(brand, tokens) {
      const found = new Map<string, Holder>()
      for (const token of tokens) {
        const holder = book.devices.find((each) => each.brand === brand && each.token === token)
        if (holder) found.set(token, holder)
        else if (book.unlinked.has(`${brand} ${token}`)) found.set(token, 'nobody')
      }
      return found
    },
    isRevoked: ({ brand, token }) => book.unlinked.has(`${brand} ${token}`),
    unlink(devices, why) {
      for (const each of devices) book.dropped.push({ device: each, why })
      return []
    },
  }
  return book
}
