// GOAWAY and reset streams lose nothing and show nothing twice, for both services that speak HTTP/2.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { DeviceKind } from '../../src/subjects/devices/device.ts'
import { apns } from '../../src/subjects/providers/apns/apns.ts'
import { fcm } from '../../src/subjects/providers/fcm/fcm.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { apnsStandIn } from '../../src/tools/stand-ins/apns.ts'
import { fcmStandIn } from '../../src/tools/stand-ins/fcm.ts'
import type { Arrival, StandIn } from '../../src/tools/stand-ins/stand-in.ts'
import type { Proof } from '../harness/proof.ts'
import { createFleet, emptyTally, startPushOperator } from '../harness/push-operator.ts'
import { records } from '../harness/records.ts'

/** A stand-in with the service that sends to it. */
interface Target {
  readonly kind: DeviceKind
  readonly standIn: StandIn
  readonly service: PushService
  /** Adds a device. @returns its token */
  device(): string
  /** The collapse identity of a request: the same on every attempt of a message. */
  collapseIdOf(arrival: Arrival): string
}

export const goaway = proofOn('goaway', 'FCM', async () => {
  const standIn = await fcmStandIn()
  const service = fcm({
    serviceAccount: standIn.credentials,
    baseUrl: standIn.url,
    ...(standIn.ca && { ca: standIn.ca }),
  })
  return {
    kind: 'fcm_token',
    standIn,
    service,
    device: () => standIn.device(),
    collapseIdOf({ body }) {
      const { message } = JSON.parse(body) as { message: { android: { notification: { tag: string } } } }
      return message.android.notification.tag
    },
  }
})

export const goawayApns = proofOn('goaway-apns', 'APNs', async () => {
  const standIn = await apnsStandIn()
  const { credentials, topic, url, ca } = standIn
  return {
    kind: 'apns',
    standIn,
    service: apns({ ...credentials, topic, environments: ['production'], baseUrl: url, ...(ca && { ca }) }),
    device: () => standIn.device(),
    collapseIdOf: ({ headers }) => String(headers['apns-collapse-id']),
  }
})

function proofOn(name: string, service: string, start: () => Promise<Target>): Proof {
  return {
    name,
    claims: `${service} with GOAWAY every 500 requests and 1 % of streams reset: all are delivered and shown once; a second arrival only where an answer was lost`,
    boundSeconds: { small: 90, full: 600 },
    async run({ small, folder, print }, signal) {
      const count = small ? 2_000 : 50_000
      const target = await start()
      const { standIn } = target
      const list = records(0, count, small ? 400 : 4_000)
      const fleet = createFleet(target.kind, list, target.device)
      standIn.play({ every: 500, goaway: true })
      standIn.play({ share: 0.005, reset: 'before' })
      standIn.play({ share: 0.005, reset: 'after' })
      const operator = await startPushOperator(`sqlite:${join(folder, 'operator.db')}`, fleet, [target.service])
      try {
        const tally = emptyTally()
        let left = list
        for (let round = 1; left.length > 0; round++) {
          signal.throwIfAborted()
          assert.ok(round <= 200, `${left.length} are still fatal: ${[...tally.errors.keys()].join('; ')}`)
          left = await operator.send(left, tally)
          print(`round ${round}: ${tally.successful} delivered, ${left.length} to be sent again`)
          if (left.length > 0) await new Promise((resolve) => setTimeout(resolve, 100))
        }
        assert.equal(tally.successful, count)
        assert.equal(tally.failed, 0)

        const accepted = standIn.arrivals.filter((arrival) => arrival.accepted)
        const lost = accepted.filter(({ status }) => status === 0).length
        const byMessage = Map.groupBy(accepted, target.collapseIdOf)
        assert.equal(byMessage.size, count, 'messages that arrived')
        for (const arrivals of byMessage.values())
          assert.ok(
            arrivals.slice(0, -1).every(({ status }) => status === 0),
            'a second arrival although the first was answered',
          )
        const { uncertain } = await operator.summary()
        const seconds = accepted.length - count
        assert.equal(seconds, lost, 'second arrivals and lost answers')
        assert.equal(uncertain, lost, 'attempts that the operator counts as uncertain, and lost answers')

        const devices = new Set(list.map(({ brand, user }) => fleet.tokenOf(brand, user)))
        const notes = [...devices].flatMap((device) => [...standIn.shown(device)])
        const replaced = notes.reduce((sum, note) => sum + note.replaced, 0)
        assert.equal(notes.length, count, 'notifications that people see')
        assert.equal(replaced, seconds, 'second arrivals that replaced the first')
        assert.equal(fleet.removed.length, 0)
        print(`${accepted.length} arrivals for ${count} messages, ${lost} answers lost, ${uncertain} uncertain`)
        return {
          messages: count,
          delivered: byMessage.size,
          second_arrivals: seconds,
          lost_answers: lost,
          uncertain,
          refused: standIn.arrivals.length - accepted.length,
          shown: notes.length,
        }
      } finally {
        await operator.stop()
        await standIn.close()
      }
    },
  }
}
