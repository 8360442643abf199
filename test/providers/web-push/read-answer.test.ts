import assert from 'node:assert/strict'
import test from 'node:test'
import { readWebPushAnswer } from '../../../src/subjects/providers/web-push/read-answer.ts'
import { webPushRows } from '../web-push-rows.ts'

test('every status has an outcome with a rule, and with an error unless it is successful', () => {
  for (let status = 100; status < 600; status++) {
    const answer = readWebPushAnswer(status, {}, 'body')
    assert.equal(answer.rule, `web-push ${status}`)
    if (answer.category !== 'successful') assert.match(answer.error, new RegExp(`answered ${status}: .{10,}`))
  }
})

test('only 404 and 410 make a subscription gone, and no status alone is evidence against it', () => {
  const of = (token: string | undefined) =>
    Array.from({ length: 500 }, (_, i) => i + 100).filter((status) => readWebPushAnswer(status, {}, '').token === token)
  assert.deepEqual(of('gone'), [404, 410])
  assert.deepEqual(of('mismatch'), [])
})

test('each row of the answers table has its outcome and verdict, is shown as it came and concerns one vendor at most', () => {
  for (const { row, status, headers = {}, body, outcome, token } of webPushRows) {
    const answer = readWebPushAnswer(status, headers, body, 0)
    assert.deepEqual([answer.category, answer.token], [outcome.category, token], row)
    if (body !== '') assert.equal(answer.answer, body, row)
    if (answer.category === 'successful') continue
    assert.match(answer.error, new RegExp(`answered ${status}`), row)
    if (answer.category === 'fatal')
      assert.equal(answer.concerns, answer.blame === 'provider' ? 'counterpart' : undefined, row)
  }
})

test('Retry-After is seconds or a date', () => {
  const now = Date.parse('2026-11-21T10:00:00Z')
  const wait = (header: string) => {
    const answer = readWebPushAnswer(503, { 'retry-after': header }, '', now)
    return answer.category === 'fatal' ? answer.retryAfterMs : undefined
  }
  assert.equal(wait('120'), 120_000)
  assert.equal(wait('Sat, 21 Nov 2026 10:00:30 GMT'), 30_000)
  assert.equal(wait('soon'), undefined)
})

test('a long answer is shortened', () => {
  assert.equal(readWebPushAnswer(400, {}, 'x'.repeat(5_000)).answer?.length, 500)
})
