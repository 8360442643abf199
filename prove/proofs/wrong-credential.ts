import assert from 'node:assert/strict'
import { join } from 'node:path'
import { on } from '../../src/base/runtime/events.ts'
import type { DeviceKind } from '../../src/subjects/devices/device.ts'
import type { DevicePublisher } from '../../src/subjects/devices/device-publisher.ts'
import { deviceId } from '../../src/subjects/devices/identity.ts'
import { apns } from '../../src/subjects/providers/apns/apns.ts'
import { fcm } from '../../src/subjects/providers/fcm/fcm.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { apnsStandIn } from '../../src/tools/stand-ins/apns.ts'
import { fcmStandIn } from '../../src/tools/stand-ins/fcm.ts'
import type { StandIn } from '../../src/tools/stand-ins/stand-in.ts'
import type { Proof } from '../harness/proof.ts'
import { emptyTally, type PushOperator, startPushOperator } from '../harness/push-operator.ts'
import { type ProvedRecord, records } from '../harness/records.ts'

/** A wrong setting and the correct setting, for the same devices. */
interface Mistake {
  readonly name: string
  readonly kind: DeviceKind
  readonly standIn: StandIn
  device(): string
  wrong(): PushService
  right(): PushService
}

const rounds = 3

export const wrongCredential: Proof = {
  name: 'wrong-credential',
  claims:
    'a wrong project, environment, topic or key removes no device, publishes no removal and loses no message; after correction all are delivered',
  boundSeconds: { small: 120, full: 600 },
  async run({ small, folder, print }, signal) {
    const count = small ? 200 : 10_000
    const list = records(0, count, count)
    const mistakes = await mistakesOf()
    const figures = {
      devices: count,
      mistakes: mistakes.length,
      removed: 0,
      published: 0,
      burned: 0,
      asked: 0,
      alerts: 0,
      delivered: 0,
    }
    try {
      for (const mistake of mistakes) {
        const published = { link: 0, unlink: 0 }
        const store = `sqlite:${join(folder, `${mistake.name.replaceAll(' ', '-')}.db`)}`
        const before = mistake.standIn.arrivals.length
        let alerts = 0
        const unlisten = on('provider.alert', () => void alerts++)
        const tally = emptyTally()

        const wrong = await startPushOperator(store, 'registry', [mistake.wrong()], countingPublisher(published))
        await link(wrong, mistake, list)
        await wrong.waitUntilPublished()
        assert.equal(published.link, count, 'every device was published')
        for (let round = 0; round < rounds; round++) {
          signal.throwIfAborted()
          // After this time a pause has ended, and a probe is sent.
          if (round > 0) await new Promise((resolve) => setTimeout(resolve, 1_100))
          assert.equal(
            (await wrong.send(list, tally)).length,
            count,
            `${mistake.name}: all messages must be sent again`,
          )
        }
        await wrong.waitUntilPublished()
        assert.equal(await countRemoved(wrong), 0, `${mistake.name}: devices were removed`)
        await wrong.stop()
        unlisten()
        const asked = mistake.standIn.arrivals.length - before
        assert.equal(tally.failed, 0, `${mistake.name}: messages failed: ${[...tally.errors.keys()].join('; ')}`)
        assert.equal(tally.successful, 0)
        assert.deepEqual(published, { link: count, unlink: 0 }, `${mistake.name}: a removal was published`)
        assert.ok(alerts > 0, `${mistake.name}: there was no alert`)

        // The same store and devices with the correct setting.
        const right = await startPushOperator(store, 'registry', [mistake.right()], countingPublisher(published))
        const after = emptyTally()
        assert.equal((await right.send(list, after)).length, 0, [...after.errors.keys()].join('; '))
        await right.waitUntilPublished()
        assert.equal(await countRemoved(right), 0)
        await right.stop()
        assert.equal(after.successful, count)
        assert.deepEqual(published, { link: count, unlink: 0 })
        figures.asked += asked
        figures.alerts += alerts
        figures.delivered += after.successful
        print(
          `${mistake.name}: ${count * rounds} answered fatal (${asked} requests to the provider, ${alerts} alerts), 0 removed, 0 published, 0 failed; after correction ${count} delivered`,
        )
      }
      return figures
    } finally {
      for (const { standIn } of mistakes) await standIn.close()
    }
  },
}

/** Links one device for each user of each brand in the operator's registry. */
async function link({ devices }: PushOperator, mistake: Mistake, list: readonly ProvedRecord[]): Promise<void> {
  const events = list.map(({ brand, user }) => {
    const token = mistake.device()
    return {
      what: 'link',
      brand,
      userId: user,
      id: deviceId(token),
      token,
      kind: mistake.kind,
      app: '',
      environment: '',
      channel: 'unknown',
      origin: 'proof',
      at: undefined,
      skipPublishing: false,
    } as const
  })
  for (let from = 0; from < events.length; from += 1_000) await devices.storeEvents(events.slice(from, from + 1_000))
}

async function countRemoved({ devices }: PushOperator): Promise<number> {
  const found = await Promise.all(['1', '2'].map((brand) => devices.listRemoved({ brand }, 1)))
  return found.flat().length
}

/** A publisher that accepts and counts all events. */
const countingPublisher = (published: Record<'link' | 'unlink', number>): DevicePublisher => ({
  name: 'counting',
  max: 1_000,
  concurrency: 2,
  async publish(messages) {
    for (const { what } of messages) published[what]++
    return messages.map(() => ({ category: 'successful', rule: 'counted' }))
  },
  async close() {},
})

async function mistakesOf(): Promise<readonly Mistake[]> {
  const other = 'com.example.other'
  const google = await fcmStandIn()
  const apple = await apnsStandIn({ topics: ['com.example.app', other] })
  const firebase = { baseUrl: google.url, ...(google.ca && { ca: google.ca }) }
  const { topic, credentials, ca } = apple
  const tls = { baseUrl: apple.url, sandboxUrl: apple.sandboxUrl, ...(ca && { ca }) }
  const ofGoogle = {
    kind: 'fcm_token',
    standIn: google,
    device: () => google.device(),
    right: () => fcm({ serviceAccount: google.credentials, ...firebase }),
  } as const
  const ofApple = {
    kind: 'apns',
    standIn: apple,
    device: () => apple.device(),
    right: () => apns({ ...credentials, topic, ...tls }),
  } as const
  return [
    {
      ...ofGoogle,
      name: 'an account of another project',
      wrong: () => fcm({ serviceAccount: google.project('another'), ...firebase }),
    },
    {
      ...ofGoogle,
      name: 'an unknown project',
      wrong: () => fcm({ serviceAccount: { ...google.credentials, project_id: 'nowhere' }, ...firebase }),
    },
    {
      ...ofApple,
      name: 'the other environment',
      wrong: () => apns({ ...credentials, topic, ...tls, environments: ['sandbox'] }),
    },
    {
      ...ofApple,
      name: 'swapped addresses of the environments',
      wrong: () => apns({ ...credentials, topic, ...tls, baseUrl: tls.sandboxUrl, environments: ['production'] }),
    },
    { ...ofApple, name: 'the topic of another app', wrong: () => apns({ ...credentials, topic: other, ...tls }) },
    {
      ...ofApple,
      name: 'an unknown topic',
      wrong: () => apns({ ...credentials, topic: 'com.example.typo', ...tls }),
    },
    {
      ...ofApple,
      name: 'a key for the other environment',
      wrong: () => apns({ ...apple.key({ environment: 'sandbox' }), topic, ...tls, environments: ['production'] }),
    },
  ]
}
