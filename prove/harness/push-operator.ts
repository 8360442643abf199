// An operator that pushes to devices, and a client that sends fatal messages again, as the platform does.

import { listen } from '../../src/base/http/http.ts'
import { chain } from '../../src/base/http/mount.ts'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import type { OperatorLimits } from '../../src/sides/operator/options.ts'
import type { Device, DeviceKind } from '../../src/subjects/devices/device.ts'
import type { DevicePublisher } from '../../src/subjects/devices/device-publisher.ts'
import type { DeviceSource } from '../../src/subjects/devices/device-source.ts'
import type { Registry } from '../../src/subjects/devices/registry.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { adminKey, apiKeys } from '../plans.ts'
import { admin, type OperatorSummary } from './http.ts'
import type { ProvedRecord } from './records.ts'

/** A device source in memory: one device for each user of each brand. */
export interface Fleet extends DeviceSource {
  /** The devices that the send path has unlinked. */
  readonly removed: Device[]
  tokenOf(brand: string, user: string): string
}

/** @param createToken returns the token of a new device */
export function createFleet(kind: DeviceKind, list: readonly ProvedRecord[], createToken: () => string): Fleet {
  const fleet = new Map<string, Device>()
  const key = (brand: string, user: string): string => `${brand}/${user}`
  for (const { brand, user } of list) {
    if (fleet.has(key(brand, user))) continue
    fleet.set(key(brand, user), { brand, userId: user, kind, token: createToken(), linkedAt: '2026-01-01T00:00:00Z' })
  }
  const byToken = new Map([...fleet.values()].map((device) => [`${device.brand}/${device.token}`, device]))
  const removed: Device[] = []
  return {
    name: 'fleet',
    removed,
    tokenOf: (brand, user) => fleet.get(key(brand, user))?.token ?? '',
    async findDevices(brand, users) {
      return new Map(
        users.map((user) => [user, [fleet.get(key(brand, user))].filter((device) => device !== undefined)]),
      )
    },
    async findHolders(brand, tokens) {
      return new Map(
        tokens
          .flatMap((token) => [[token, byToken.get(`${brand}/${token}`)] as const])
          .filter((each) => each[1] !== undefined) as [string, Device][],
      )
    },
    unlink(devices) {
      removed.push(...devices)
      return []
    },
  }
}

export interface Tally {
  successful: number
  failed: number
  fatal: number
  /** The number of failed and fatal messages by error. */
  readonly errors: Map<string, number>
}

export interface PushOperator {
  readonly url: string
  readonly devices: Registry
  /** Sends each record once, in batches of a thousand. @returns the records that must be sent again */
  send(list: readonly ProvedRecord[], tally: Tally): Promise<readonly ProvedRecord[]>
  /** Resolves when all device events are published to the platform. */
  waitUntilPublished(): Promise<void>
  summary(): Promise<OperatorSummary>
  stop(): Promise<void>
}

export const emptyTally = (): Tally => ({ successful: 0, failed: 0, fatal: 0, errors: new Map() })

export async function startPushOperator(
  store: string,
  source: DeviceSource | 'registry',
  services: readonly PushService[],
  /** Publishes links and unlinks to the platform. */
  publisher?: DevicePublisher,
  limits: Partial<OperatorLimits> = {},
): Promise<PushOperator> {
  const operator = createOperator({
    store,
    keys: Object.entries(apiKeys).map(([brand, key]) => ({ name: `brand ${brand}`, key, brands: [brand] })),
    adminKeys: [{ name: 'proof', key: adminKey, scopes: ['counts', 'read', 'decide', 'attributes'] }],
    push: { devices: { source, services } },
    suppression: 'none',
    limits,
    ...(publisher && {
      publish: Object.keys(apiKeys).map((brand) => ({ brand, publisher, providers: 'all' as const })),
    }),
  })
  await operator.start()
  const listening = await listen('operator', chain(operator.handler, operator.admin.handler))

  async function sendBatch(batch: readonly ProvedRecord[], tally: Tally): Promise<readonly ProvedRecord[]> {
    const response = await fetch(`${listening.url}/channels/push/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKeys[batch[0]?.brand as string] as string },
      body: `[${batch.map(({ text }) => text).join(',')}]`,
      signal: AbortSignal.timeout(60_000),
    })
    if (response.status !== 200) throw new Error(`the batch was answered ${response.status}: ${await response.text()}`)
    const answer = readAnswer(await response.text())
    for (const category of ['successful', 'failed', 'fatal'] as const) tally[category] += answer[category].length
    for (const { error = '' } of [...answer.failed, ...answer.fatal])
      tally.errors.set(error, (tally.errors.get(error) ?? 0) + 1)
    const settled = new Set([...answer.successful, ...answer.failed].map(({ id }) => id))
    return batch.filter(({ id }) => !settled.has(id))
  }

  return {
    url: listening.url,
    devices: operator.devices,
    async send(list, tally) {
      // A batch has one brand: both brands have equal ids, and each brand has its own key.
      const batches = [...Map.groupBy(list, ({ brand }) => brand).values()].flatMap((ofBrand) =>
        Array.from({ length: Math.ceil(ofBrand.length / 1_000) }, (_, i) => ofBrand.slice(i * 1_000, (i + 1) * 1_000)),
      )
      const unsettled: ProvedRecord[] = []
      const remaining = batches.values()
      const senders = Array.from({ length: 4 }, async () => {
        for (const batch of remaining) unsettled.push(...(await sendBatch(batch, tally)))
      })
      await Promise.all(senders)
      return unsettled
    },
    async waitUntilPublished() {
      for (;;) {
        const { lanes } = await admin<{ lanes: readonly { waiting: number }[] }>(listening.url, '/admin/lanes')
        if (lanes.every(({ waiting }) => waiting === 0)) return
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    summary: () => admin<OperatorSummary>(listening.url, '/admin/summary'),
    async stop() {
      await operator.stop()
      await listening.close(100)
    },
  }
}

interface AnswerItem {
  readonly id: string
  readonly error?: string
}

/** Keeps the ids as text, because they exceed the precision of a double. */
function readAnswer(text: string): Record<'successful' | 'failed' | 'fatal', readonly AnswerItem[]> {
  const keepIds = (name: string, value: unknown, { source }: { source?: string }) => (name === 'id' ? source : value)
  return JSON.parse(text, keepIds as (this: unknown, name: string, value: unknown) => unknown)
}
