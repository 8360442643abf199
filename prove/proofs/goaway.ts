import assert from 'node:assert/strict'
import { join } from 'node:path'
import { fcm } from '../../src/providers/fcm/fcm.ts'
import { fcmStandIn } from '../../src/stand-ins/fcm.ts'
import type { Proof } from '../harness/proof.ts'
import { createFleet, emptyTally, startPushOperator } from '../harness/push-operator.ts'
import { records } from '../harness/records.ts'

export const goaway: Proof = {
  name: 'goaway',
  claims:
    'with GOAWAY every 500 requests and 1 % of streams reset, all messages are delivered and shown once, and arrive twice only if an answer was lost',
  boundSeconds: { small: 90, full: 600 },
  async run({ small, folder, print }, signal) {
    const count = small ? 4_000 : 50_000
    const list = records(0, count, small ? 400 : 4_000)
    const standIn = await fcmStandIn()
    const fleet = createFleet('fcm_token', list, () => standIn.device())
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
      let remaining = list
      for (let round = 1; remaining.length > 0; round++) {
        signal.throwIfAborted()
        assert.ok(round <= 200, `${remaining.length} messages are still fatal: ${[...tally.errors.keys()].join('; ')}`)
        remaining = await operator.send(remaining, tally)
        print(`round ${round}: ${tally.successful} delivered, ${remaining.length} must be sent again`)
        if (remaining.length > 0) await new Promise((resolve) => setTimeout(resolve, 100))
      }
      assert.equal(tally.successful, count)
      assert.equal(tally.failed, 0)

      const accepted = standIn.arrivals.filter((arrival) => arrival.accepted)
      const lost = accepted.filter(({ status }) => status === 0).length
      const refused = standIn.arrivals.filter((arrival) => !arrival.accepted).length
      const byMessage = Map.groupBy(accepted, ({ body }) => readTag(body))
      assert.equal(byMessage.size, count, 'the number of messages that arrived')
      // Only a lost answer may cause another arrival, so all answers except the last were lost.
      for (const arrivals of byMessage.values())
        assert.ok(
          arrivals.slice(0, -1).every(({ status }) => status === 0),
          'a second arrival although the first was answered',
        )
      const { uncertain } = await operator.summary()
      const seconds = accepted.length - count
      assert.equal(seconds, lost, 'as many second arrivals as lost answers')
      assert.equal(uncertain, lost, 'as many uncertain attempts as lost answers')

      let shown = 0
      let replaced = 0
      for (const device of new Set(list.map(({ brand, user }) => fleet.tokenOf(brand, user))))
        for (const note of standIn.shown(device)) {
          shown++
          replaced += note.replaced
        }
      assert.equal(shown, count, 'the number of visible notifications')
      assert.equal(replaced, seconds, 'each second arrival replaced the first')
      assert.equal(fleet.removed.length, 0)
      print(
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

/** The collapse key, which is equal for all attempts of a message. */
function readTag(body: string): string {
  const { message } = JSON.parse(body) as { message: { android: { notification: { tag: string } } } }
  return message.android.notification.tag
}
