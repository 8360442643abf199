import assert from 'node:assert/strict'
import { join } from 'node:path'
import { fcm } from '../../src/providers/fcm/fcm.ts'
import { fcmStandIn } from '../../src/stand-ins/fcm.ts'
import type { Proof } from '../harness/proof.ts'
import { emptyTally, makeFleet, startPushOperator } from '../harness/push-operator.ts'
import { records } from '../harness/records.ts'

export const goaway: Proof = {
  name: 'goaway',
  claims:
    'with GOAWAY every 500 requests and 1 % of streams reset, all are delivered and shown once; a second arrival only where an answer was lost',
  boundSeconds: { small: 90, full: 600 },
  async run({ small, folder, say }, signal) {
    const count = small ? 4_000 : 50_000
    const list = records(0, count, small ? 400 : 4_000)
    const standIn = await fcmStandIn()
    const fleet = makeFleet('fcm_token', list, () => standIn.device())
    standIn.play({ every: 500, goaway: true })
    standIn.play({ share: 0.005, reset: 'before' })
    standIn.play({ share: 0.005, reset: 'after' })
    const service = fcm({
      serviceAccount: standIn.credentials,
      baseUrl: standIn.url,
      ...(standIn.ca && { ca: standIn.ca }),
    })
    const operator = await startPushOperator(`sqlite:${join(folder, 'operator.db')}`, fleet, [service])
    try {
      const tally = emptyTally()
      let left = list
      for (let round = 1; left.length > 0; round++) {
        signal.throwIfAborted()
        assert.ok(round <= 200, `${left.length} are still fatal: ${[...tally.errors.keys()].join('; ')}`)
        left = await operator.send(left, tally)
        say(`round ${round}: ${tally.successful} delivered, ${left.length} to be sent again`)
        if (left.length > 0) await new Promise((resolve) => setTimeout(resolve, 100))
      }
      assert.equal(tally.successful, count)
      assert.equal(tally.failed, 0)

      const accepted = standIn.arrivals.filter((arrival) => arrival.accepted)
      const lost = accepted.filter(({ status }) => status === 0).length
      const refused = standIn.arrivals.filter((arrival) => !arrival.accepted).length
      const byMessage = Map.groupBy(accepted, ({ body }) => tagOf(body))
      assert.equal(byMessage.size, count, 'messages that arrived')
      // All but the last one's answers were lost: else there would have been no second.
      for (const arrivals of byMessage.values())
        assert.ok(
          arrivals.slice(0, -1).every(({ status }) => status === 0),
          'a second arrival although the first was answered',
        )
      const { uncertain } = await operator.summary()
      const seconds = accepted.length - count
      assert.equal(seconds, lost, 'second arrivals and lost answers')
      assert.equal(uncertain, lost, 'what the operator counts as uncertain and the answers that the stand-in lost')

      let shown = 0
      let replaced = 0
      for (const device of new Set(list.map(({ brand, user }) => fleet.tokenOf(brand, user))))
        for (const note of standIn.shown(device)) {
          shown++
          replaced += note.replaced
        }
      assert.equal(shown, count, 'notifications that people see')
      assert.equal(replaced, seconds, 'second arrivals took the place of the first')
      assert.equal(fleet.removed.length, 0)
      say(
        `${accepted.length} arrivals for ${count} messages, ${lost} answers lost, ${uncertain} uncertain, ${shown} shown`,
      )
      return {
        messages: count,
        delivered: byMessage.size,
        second_arrivals: seconds,
        lost_answers: lost,
        uncertain,
        refused,
        shown,
      }
    } finally {
      await operator.stop()
      await standIn.close()
    }
  },
}

/** The collapse identity: the same on every attempt. */
function tagOf(body: string): string {
  const { message } = JSON.parse(body) as { message: { android: { notification: { tag: string } } } }
  return message.android.notification.tag
}
