import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  isMessageStatus,
  type MessageStatus,
  messageStatuses,
  type StatusTimes,
  statusSummary,
  withStatus,
} from '../../src/contract/status.ts'

const at = (second: number): string => `2026-01-01T10:00:${String(second).padStart(2, '0')}`
const report = fc.tuple(
  fc.constantFrom(...messageStatuses),
  fc.integer({ min: 0, max: 59 }).map((second) => at(second)),
)
const after = (reports: readonly (readonly [MessageStatus, string])[]): StatusTimes =>
  reports.reduce((times, [status, time]) => withStatus(times, status, time), {} as StatusTimes)

test('reports lead to the same state in any order, and repeated', () => {
  fc.assert(
    fc.property(fc.array(report, { maxLength: 12 }), fc.infiniteStream(fc.nat(1_000)), (reports, order) => {
      const shuffled = [...reports, ...reports]
        .map((each) => ({ each, by: order.next().value as number }))
        .sort((a, b) => a.by - b.by)
        .map(({ each }) => each)
      assert.deepEqual(after(shuffled), after(reports))
      assert.equal(statusSummary(after(shuffled)), statusSummary(after(reports)))
    }),
  )
})

test('from delivered up, a further report never lowers the summary; no report moves the time of a status forward', () => {
  const order: readonly (readonly MessageStatus[])[] = [
    ['delivered'],
    ['displayed'],
    ['opened'],
    ['dismissed', 'archived'],
    ['clicked'],
  ]
  const height = (status: MessageStatus | undefined) => order.findIndex((level) => level.includes(status as never))
  fc.assert(
    fc.property(fc.array(report), report, (reports, [status, time]) => {
      const before = after(reports)
      const then = withStatus(before, status, time)
      assert.ok(height(statusSummary(then)) >= height(statusSummary(before)))
      for (const each of messageStatuses) if (before[each]) assert.ok((then[each] as string) <= before[each])
    }),
  )
})

test('a step backwards is kept and changes no summary', () => {
  const clicked = withStatus({}, 'clicked', at(5))
  const late = withStatus(clicked, 'displayed', at(1))
  assert.deepEqual(late, { clicked: at(5), displayed: at(1) })
  assert.equal(statusSummary(late), 'clicked')
})

test('a repeated status changes nothing', () => {
  const times = withStatus({}, 'opened', at(1))
  assert.equal(withStatus(times, 'opened', at(1)), times)
  assert.equal(withStatus(times, 'opened', at(2)), times)
})

test('dismissed on one device and clicked on another counts as clicked, whichever came first', () => {
  assert.equal(statusSummary({ dismissed: at(1), clicked: at(2) }), 'clicked')
  assert.equal(statusSummary({ dismissed: at(2), clicked: at(1) }), 'clicked')
})

test('the later of dismissed and archived counts', () => {
  assert.equal(statusSummary({ dismissed: at(1), archived: at(2) }), 'archived')
  assert.equal(statusSummary({ dismissed: at(2), archived: at(1) }), 'dismissed')
})

test('failed and expired count only if nothing from delivered up was reported', () => {
  assert.equal(statusSummary({ sent: at(1), failed: at(2) }), 'failed')
  assert.equal(statusSummary({ sent: at(1), expired: at(2) }), 'expired')
  assert.equal(statusSummary({ failed: at(3), expired: at(2) }), 'failed')
  assert.equal(statusSummary({ delivered: at(1), failed: at(2), expired: at(3) }), 'delivered')
  assert.equal(statusSummary({ failed: at(1), expired: at(2), opened: at(3) }), 'opened')
})

test('a message that is sent again after it failed counts as sent', () => {
  assert.equal(statusSummary({ failed: at(1), sent: at(2) }), 'sent')
  assert.equal(statusSummary({ failed: at(2), sent: at(1) }), 'failed')
  assert.equal(statusSummary({ failed: at(2), accepted: at(1), sent: at(2) }), 'failed')
})

test('a message without a report has no summary', () => {
  assert.equal(statusSummary({}), undefined)
})

test('only the listed words are statuses', () => {
  for (const status of messageStatuses) assert.ok(isMessageStatus(status))
  for (const word of ['read', 'seen', 'Clicked', '', 'constructor', 7, null]) assert.ok(!isMessageStatus(word))
})
