import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type BatchItem,
  batchAnswer,
  batchRetryAfterSeconds,
  blameForFatal,
  invalidOutcome,
  readBatchAnswer,
  readSingleAnswer,
  singleAnswer,
} from '../../src/contract/answer.ts'
import type { Outcome } from '../../src/contract/outcome.ts'

/** The fields of an outcome that the tests compare. */
function brief(outcome: Outcome | undefined): string {
  if (outcome === undefined) return 'no outcome'
  if (outcome.category === 'successful') return `successful ${outcome.ref ?? 'untracked'}`
  if (outcome.category === 'failed') return `failed ${outcome.reason}: ${outcome.error}`
  return `fatal ${outcome.reason}, ${outcome.blame}: ${outcome.error}`
}

// ── §7.1: the platform reads answers ──────────────────────────────────────────────────────────────────────────────────────

for (const [status, body, expected, rule] of [
  [200, '{"push_id":"p1"}', 'successful p1', '§7.1 200'],
  [201, '{"push_id":"p1","more":[1]}', 'successful p1', '§7.1 201'],
  [299, '{"push_id":"p1"}', 'successful p1', '§7.1 299'],
  [200, '{"push_id":9007199254740993}', 'successful 9007199254740993', '§7.1 200'],
  [200, '{"push_id":9223372036854775807}', 'successful 9223372036854775807', '§7.1 200'],
  ...['1.5', '1.0', '1e3', '1e400', '-1', '9223372036854775808', 'true'].map(
    (id) => [200, `{"push_id":${id}}`, 'successful untracked', '§7.1 200 without push_id (row 6)'] as const,
  ),
  [204, '', 'successful untracked', '§7.1 204 without push_id (row 6)'],
  [200, '{}', 'successful untracked', '§7.1 200 without push_id (row 6)'],
  [200, '{"site_notification_id":"s1"}', 'successful untracked', '§7.1 200 without push_id (row 6)'],
  [200, '{"push_id":""}', 'successful untracked', '§7.1 200 without push_id (row 6)'],
  [200, '{"push_id":{"a":1}}', 'successful untracked', '§7.1 200 without push_id (row 6)'],
  [200, '{"push_id":"a\\u0000"}', 'successful untracked', '§7.1 200 without push_id (row 6)'],
  [200, `{"push_id":"${'p'.repeat(256)}"}`, 'successful untracked', '§7.1 200 without push_id (row 6)'],
  [200, '<html>welcome</html>', 'successful untracked', '§7.1 200 without push_id (row 6)'],
  [
    200,
    `{"push_id":"p1","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
    'successful untracked',
    '§7.1 200 without push_id (row 6)',
  ],
  [400, '{"error":"no such user"}', 'failed rejected: no such user', '§7.1 400'],
  [401, '{"error":"who?"}', 'failed misconfigured: who?', '§7.1 401'],
  [403, '', 'failed misconfigured: the operator answered 403', '§7.1 403'],
  [404, 'not found', 'failed misconfigured: the operator answered 404', '§7.1 404'],
  [405, '[]', 'failed misconfigured: the operator answered 405', '§7.1 405'],
  [408, '{}', 'failed timeout: the operator answered 408', '§7.1 408'],
  [413, '{}', 'failed too_large: the operator answered 413', '§7.1 413'],
  [422, '{"error":"blocked"}', 'failed rejected: blocked', '§7.1 422'],
  [429, '{"error":{"code":1}}', 'failed rate_limited: {"code":1}', '§7.1 429'],
  [499, '{"error":""}', 'failed rejected: the operator answered 499', '§7.1 499'],
  [500, '{"error":"oops"}', 'fatal unavailable, call: oops', '§7.1 500'],
  [502, '<html>', 'fatal unavailable, provider: the operator answered 502', '§7.1 502'],
  [503, '{"error":"busy"}', 'fatal unavailable, provider: busy', '§7.1 503'],
  [504, '', 'fatal timeout, provider: the operator answered 504', '§7.1 504'],
  [101, '', 'fatal nonsense, provider: the operator answered 101', '§7.1 101'],
  [301, '', 'fatal misconfigured, provider: the operator answered 301', '§7.1 301'],
  [399, '', 'fatal misconfigured, provider: the operator answered 399', '§7.1 399'],
  [600, '', 'fatal unavailable, provider: the operator answered 600', '§7.1 600'],
] as const) {
  test(`a single answer of ${status} ${body.slice(0, 40)} is ${expected.split(':')[0]}`, () => {
    const outcome = readSingleAnswer({ channel: 'push', status, body })
    assert.equal(brief(outcome), expected)
    assert.equal(outcome.rule, rule)
    assert.deepEqual(readSingleAnswer({ channel: 'push', status, body: Buffer.from(body) }), outcome)
  })
}

test('on-site answers carry site_notification_id', () => {
  assert.equal(
    brief(readSingleAnswer({ channel: 'site', status: 200, body: '{"site_notification_id":"s1"}' })),
    'successful s1',
  )
  assert.equal(
    brief(readSingleAnswer({ channel: 'site', status: 200, body: '{"push_id":"p1"}' })),
    'successful untracked',
  )
})

test('Retry-After is read as seconds or as a date; any other value is ignored', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  for (const [retryAfter, expected] of [
    ['7', 7_000],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['', undefined],
  ] as const) {
    const outcome = readSingleAnswer({ channel: 'push', status: 503, body: '', retryAfter, now })
    assert.equal('retryAfterMs' in outcome ? outcome.retryAfterMs : undefined, expected, retryAfter)
  }
})

test('untrusted texts are shortened and made storable', () => {
  const outcome = readSingleAnswer({
    channel: 'push',
    status: 422,
    body: JSON.stringify({ error: `\0\ud800${'x'.repeat(2_000)}` }),
  })
  assert.ok(outcome.category === 'failed')
  assert.equal(outcome.error.length, 500)
  assert.ok(outcome.error.startsWith('\ufffd\ufffdxxx'))
  assert.equal(outcome.answer?.length, 500)
  const raw = readSingleAnswer({ channel: 'push', status: 500, body: Buffer.from([0xff, 0, 0x61]) })
  assert.equal(raw.answer, '\ufffd\ufffda')
})

// ── §7.2: the platform reads answers ──────────────────────────────────────────────────────────────────────────────────────

const ids = ['1', '2', '3']
function batch(body: unknown, status = 200, sent: readonly string[] = ids) {
  const { outcomes, warnings } = readBatchAnswer({
    channel: 'push',
    ids: sent,
    status,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  assert.equal(outcomes.length, sent.length)
  return { outcomes: outcomes.map(brief), rules: outcomes.map(({ rule }) => rule), warnings }
}

test('with status 200, each message has the outcome of its category, and a missing one is fatal', () => {
  const { outcomes, rules, warnings } = batch({
    successful: [{ id: 3, push_id: 'p3' }],
    failed: [{ id: 1, push_id: 'p1', error: 'blocked' }],
    fatal: [],
  })
  assert.deepEqual(outcomes, [
    'failed rejected: blocked',
    'fatal absent, message: absent from the answer',
    'successful p3',
  ])
  assert.deepEqual(rules, ['§7.2.2 failed', '§7.2.2 absent', '§7.2.2 successful'])
  assert.deepEqual(warnings, [])
})

test('an identifier is kept in every category', () => {
  const { outcomes } = readBatchAnswer({
    channel: 'site',
    ids: ['1', '2'],
    status: 200,
    body: '{"failed":[{"id":1,"site_notification_id":"s1"}],"fatal":[{"id":2,"site_notification_id":7,"error":"later"}]}',
    retryAfter: '9',
  })
  assert.deepEqual(outcomes, [
    { category: 'failed', reason: 'rejected', error: 'the operator gave no reason', rule: '§7.2.2 failed', ref: 's1' },
    {
      category: 'fatal',
      reason: 'unavailable',
      error: 'later',
      blame: 'call',
      rule: '§7.2.2 fatal',
      retryAfterMs: 9_000,
      ref: '7',
    },
  ])
})

test('a successful message without an identifier is delivered but untracked (row 6)', () => {
  const { outcomes, rules } = batch({ successful: [{ id: 1 }, 2, { id: '3', push_id: null }] })
  assert.deepEqual(outcomes, ['successful untracked', 'successful untracked', 'successful untracked'])
  assert.equal(rules[0], '§7.2.2 successful without push_id (row 6)')
})

test('an id in two categories: successful before fatal before failed, with a warning (row 9)', () => {
  const { outcomes, warnings } = batch({
    failed: [{ id: 1 }, { id: 2 }, { id: 3, error: 'a' }, { id: 3, error: 'b' }],
    fatal: [{ id: 2, error: 'again' }, { id: 1 }],
    successful: [{ id: 1, push_id: 'p1' }],
  })
  assert.deepEqual(outcomes, ['successful p1', 'fatal unavailable, message: again', 'failed rejected: a'])
  assert.match(warnings[0] as string, /reported twice.*: 1, 1, 2, 3/)
})

test('unknown ids are ignored, with one warning (row 10)', () => {
  const { outcomes, warnings } = batch({
    successful: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((id) => ({ id, push_id: `p${id}` })),
  })
  assert.deepEqual(outcomes, ['successful p1', 'successful p2', 'successful p3'])
  assert.deepEqual(warnings, ['unknown ids, ignored: 4, 5, 6, 7, 8 and 2 more'])
})

test('the reader accepts a bare id, an id as text, and a category that is missing or null (row 11)', () => {
  const { outcomes, warnings } = batch({ failed: [1, '2'], successful: null, fatal: [{ id: '3' }] })
  assert.deepEqual(
    outcomes.map((outcome) => outcome.split(':')[0]),
    ['failed rejected', 'failed rejected', 'fatal unavailable, call'],
  )
  assert.deepEqual(warnings, [])
})

test('an unreadable item leaves its message absent, with a warning', () => {
  const { outcomes, warnings } = batch({
    successful: [{ push_id: 'p1' }, null, { id: { a: 1 } }, { id: 2, push_id: 'p2' }],
    failed: { id: 3 },
  })
  assert.deepEqual(
    outcomes.map((outcome) => outcome.split(':')[0]),
    ['fatal absent, message', 'successful p2', 'fatal absent, message'],
  )
  assert.deepEqual(warnings, [
    'items of successful without an id: {"push_id":"p1"}, null, {"id":{"a":1}}',
    'failed is not an array and was ignored: {"id":3}',
  ])
})

test('ids are matched digit by digit, even if a double cannot hold them', () => {
  const sent = ['9007199254740992', '9007199254740993', '9223372036854775807', '"quoted"']
  const body = `{"fatal":[9007199254740992],"successful":[{"push_id":"a","id":9223372036854775807},{"id":"\\"quoted\\"","push_id":"b"}],
    "failed":[{"id":1,"error":"x","id":9007199254740993},{"error":1e400}]}`
  const { outcomes, warnings } = batch(body, 200, sent)
  assert.deepEqual(outcomes, [
    'fatal unavailable, message: the operator gave no reason',
    'failed rejected: x',
    'successful a',
    'successful b',
  ])
  assert.equal(warnings.length, 1)
})

for (const [reported, sent, blame] of [
  [['fatal', 'fatal', 'fatal'], 3, 'provider'],
  [['fatal', 'fatal'], 3, 'provider'],
  [['fatal', 'failed', 'fatal'], 3, 'provider'],
  [['successful', 'fatal', 'fatal'], 3, 'message'],
  [['successful'], 3, 'message'],
  [['fatal'], 1, 'call'],
  [['failed', 'failed', 'fatal'], 3, 'call'],
  [['failed', 'failed'], 3, 'call'],
] as const) {
  test(`row 53: of ${sent} messages ${reported.join(', ')}: the blame for fatal messages is ${blame}`, () => {
    assert.equal(
      blameForFatal(
        reported.map((category) => ({ category })),
        sent,
      ),
      blame,
    )
  })
}

test('row 59: a fatal message that names its push service is no sign of an outage of the operator', () => {
  const body =
    '{"fatal":[{"id":1,"error":"paused","service":"fcm"},{"id":2,"error":"paused","service":"fcm"},{"id":3,"service":7}]}'
  const { outcomes } = readBatchAnswer({ channel: 'push', ids: ['1', '2', '3'], status: 200, body })
  assert.partialDeepStrictEqual(outcomes, [
    { category: 'fatal', blame: 'message', service: 'fcm' },
    { category: 'fatal', blame: 'message', service: 'fcm' },
    { category: 'fatal', blame: 'call' },
  ])
  const single = { channel: 'push', status: 503, body: '{"error":"paused","service":"fcm"}', retryAfter: '7' } as const
  assert.partialDeepStrictEqual(readSingleAnswer(single), { blame: 'message', service: 'fcm', retryAfterMs: 7_000 })
  assert.partialDeepStrictEqual(readSingleAnswer({ ...single, body: '{"error":"busy"}' }), { blame: 'provider' })
})

test('row 59: our operator names the push service in both modes; a foreign platform finds an additional member', () => {
  const outcome = { ...fatal('fcm is paused'), blame: 'message', service: 'fcm' } as const
  assert.equal(singleAnswer('push', outcome).body, '{"error":"fcm is paused","service":"fcm"}')
  assert.equal(
    batchAnswer('push', [{ idJson: '1', outcome }]),
    '{"successful":[],"failed":[],"fatal":[{"id":1,"error":"fcm is paused","service":"fcm"}]}',
  )
})

test('§7.1: a 4xx with Retry-After and a 429 fail the message, and ask the lane for a pause', () => {
  const answer = (status: number, retryAfter?: string) =>
    readSingleAnswer({ channel: 'push', status, body: '', retryAfter })
  assert.partialDeepStrictEqual(answer(429, '30'), { category: 'failed', reason: 'rate_limited', retryAfterMs: 30_000 })
  assert.partialDeepStrictEqual(answer(429), { category: 'failed', retryAfterMs: 0 })
  assert.partialDeepStrictEqual(answer(403, '30'), { category: 'failed', retryAfterMs: 30_000 })
  assert.equal('retryAfterMs' in answer(422), false)
})

test('no Retry-After of a push service is passed on beyond ten minutes', () => {
  const outcome = { ...fatal('busy'), blame: 'provider', retryAfterMs: 864_000_000 } as const
  assert.equal(singleAnswer('push', outcome).retryAfterSeconds, 600)
  assert.equal(batchRetryAfterSeconds([outcome]), 600)
})

test('an answer without any of the ids is blamed on the provider, not on the messages', () => {
  for (const body of ['{"successful":[]}', '{"successful":[],"failed":[],"fatal":[]}', '{"failed":[{"id":99}]}']) {
    const { outcomes, rules } = batch(body)
    assert.deepEqual(
      new Set(outcomes),
      new Set(['fatal absent, provider: the operator answered 200, but the answer contains none of the sent messages']),
      body,
    )
    assert.deepEqual(new Set(rules), new Set(['§7.2.2 absent']))
  }
})

for (const [body, reason] of [
  ['', 'it is empty'],
  ['OK', 'it is not a JSON object'],
  ['[]', 'it is not a JSON object'],
  ['{}', 'it has none of successful, failed and fatal'],
  ['{"push_id":"p1"}', 'it has none of successful, failed and fatal'],
  ['{"successful":[{"id":1}', 'it is not JSON'],
  [`{"successful":[{"id":1,"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}]}`, 'it is nested deeper than 100 levels'],
] as const) {
  test(`a 200 with the body ${body.slice(0, 30)} makes every message fatal, as nonsense`, () => {
    const { outcomes, rules } = batch(body)
    for (const outcome of outcomes) {
      const error = `the operator answered 200, but the body is not a batch response record: ${reason}`
      assert.ok(outcome.startsWith(`fatal nonsense, provider: ${error}`), outcome)
    }
    assert.deepEqual(new Set(rules), new Set(['§2.4 unreadable']))
  })
}

for (const [status, expected] of [
  [400, 'fatal rejected, call'],
  [413, 'fatal too_large, call'],
  [422, 'fatal rejected, call'],
  [500, 'fatal unavailable, call'],
  [401, 'fatal misconfigured, provider'],
  [403, 'fatal misconfigured, provider'],
  [404, 'fatal misconfigured, provider'],
  [429, 'fatal rate_limited, provider'],
  [502, 'fatal unavailable, provider'],
  [503, 'fatal unavailable, provider'],
  [504, 'fatal timeout, provider'],
  [301, 'fatal misconfigured, provider'],
  [100, 'fatal nonsense, provider'],
  [201, 'fatal nonsense, provider'],
  [204, 'fatal nonsense, provider'],
] as const) {
  test(`a batch answered with ${status} is retried as a whole, regardless of the body`, () => {
    const { outcomes, rules } = batch({ successful: ids.map((id) => ({ id, push_id: 'p' })), error: 'no' }, status)
    assert.deepEqual(
      outcomes,
      ids.map(() => `${expected}: no`),
    )
    assert.equal(rules[0], `§7.2.1 ${status}`)
  })
}

// ── §7.1 and §7.2: the operator answers ──────────────────────────────────────────────────────────────────────────────

const sent = (ref: string): Outcome => ({ category: 'successful', ref, rule: 'test' })
const failed = (error: string): Outcome => ({ category: 'failed', reason: 'suppressed', error, rule: 'test' })
const fatal = (error: string, ref?: string): Outcome => ({
  category: 'fatal',
  reason: 'overloaded',
  error,
  blame: 'message',
  rule: 'test',
  ...(ref !== undefined && { ref }),
})

test('a single answer is 200 with the identifier, 400 if invalid, 422 if failed otherwise, 503 if fatal', () => {
  assert.deepEqual(singleAnswer('push', sent('p"1')), { status: 200, body: '{"push_id":"p\\"1"}' })
  assert.deepEqual(singleAnswer('site', sent('s1')), { status: 200, body: '{"site_notification_id":"s1"}' })
  assert.deepEqual(singleAnswer('push', { category: 'successful', rule: 'untracked' }), { status: 200, body: '{}' })
  assert.deepEqual(singleAnswer('push', invalidOutcome('no id')), {
    status: 400,
    body: '{"error":"no id","reason":"invalid"}',
  })
  assert.deepEqual(singleAnswer('push', failed('blocked')), {
    status: 422,
    body: '{"error":"blocked","reason":"suppressed"}',
  })
  assert.deepEqual(singleAnswer('push', fatal('busy')), { status: 503, body: '{"error":"busy"}', retryAfterSeconds: 5 })
})

test('the reason that an operator states for a failed message is read, and an unknown one is `rejected` (row 61)', () => {
  const single = (status: number, reason: unknown): Outcome =>
    readSingleAnswer({ channel: 'push', status, body: JSON.stringify({ error: 'no', reason }) })
  const batch = (reason: unknown): Outcome | undefined => {
    const body = JSON.stringify({ failed: [{ id: 1, error: 'no', reason }] })
    return readBatchAnswer({ channel: 'push', ids: ['1'], status: 200, body }).outcomes[0]
  }
  const reasonOf = (outcome: Outcome | undefined) => outcome?.category === 'failed' && outcome.reason
  for (const reason of ['invalid', 'suppressed', 'no_device', 'too_large', 'expired'])
    assert.deepEqual([reasonOf(single(422, reason)), reasonOf(batch(reason))], [reason, reason])
  for (const reason of ['rejected', 'timeout', 'paused', 'of another operator', 7, null, ['suppressed']])
    assert.deepEqual([reasonOf(single(422, reason)), reasonOf(batch(reason))], ['rejected', 'rejected'])
  // A wrong key is a matter of the lane, whatever the body says.
  assert.equal(reasonOf(single(401, 'suppressed')), 'misconfigured')
})

test('a fatal single answer is always a 503, with the seconds rounded up', () => {
  const reasons = [
    'overloaded',
    'rate_limited',
    'misconfigured',
    'source_down',
    'stopping',
    'in_flight',
    'timeout',
    'invalid',
  ] as const
  for (const reason of reasons) {
    for (const [retryAfterMs, seconds] of [
      [1, 1],
      [0, 1],
      [1_001, 2],
      [60_000, 60],
    ] as const) {
      const outcome: Outcome = { category: 'fatal', reason, blame: 'provider', error: 'e', rule: 'test', retryAfterMs }
      assert.deepEqual(singleAnswer('push', outcome), {
        status: 503,
        body: '{"error":"e"}',
        retryAfterSeconds: seconds,
      })
    }
  }
})

test("the platform reads the operator's single answer as the same outcome", () => {
  for (const outcome of [sent('p1'), failed('blocked'), invalidOutcome('no id'), fatal('busy')]) {
    const { status, body, retryAfterSeconds } = singleAnswer('push', outcome)
    const read = readSingleAnswer({ channel: 'push', status, body, retryAfter: retryAfterSeconds?.toString() })
    assert.equal(read.category, outcome.category)
    if (read.category === 'successful') assert.equal(read.ref, 'p1')
    else assert.equal(read.error, (outcome as { error: string }).error)
  }
})

test('a batch answer has all three arrays, with unchanged ids', () => {
  assert.equal(batchAnswer('push', []), '{"successful":[],"failed":[],"fatal":[]}')
  const items: BatchItem[] = [
    { idJson: '9223372036854775807', outcome: sent('p1') },
    { idJson: '"a\\u0062"', outcome: sent('p2') },
    { idJson: '1.0', outcome: invalidOutcome('not an integer') },
    { idJson: '{"a" : 1}', outcome: invalidOutcome('not an integer') },
    { idJson: undefined, outcome: invalidOutcome('id is missing') },
    { idJson: '7', outcome: fatal('"busy"', 'p7') },
  ]
  assert.equal(
    batchAnswer('push', items),
    '{"successful":[{"id":9223372036854775807,"push_id":"p1"},{"id":"a\\u0062","push_id":"p2"}],' +
      '"failed":[{"id":1.0,"error":"not an integer","reason":"invalid"},{"id":{"a" : 1},"error":"not an integer","reason":"invalid"}],' +
      '"fatal":[{"id":7,"push_id":"p7","error":"\\"busy\\""}]}',
  )
})

test('a duplicate id in a batch is reported once, with the worst outcome (row 28)', () => {
  for (const [outcomes, expected] of [
    [[sent('a'), failed('b')], { failed: [{ id: 1, error: 'b', reason: 'suppressed' }] }],
    [[failed('b'), sent('a')], { failed: [{ id: 1, error: 'b', reason: 'suppressed' }] }],
    [[failed('b'), fatal('c'), sent('a')], { fatal: [{ id: 1, error: 'c' }] }],
    [[fatal('c'), failed('b')], { fatal: [{ id: 1, error: 'c' }] }],
    [[sent('a'), sent('b')], { successful: [{ id: 1, push_id: 'a' }] }],
  ] as const) {
    const body = batchAnswer(
      'push',
      outcomes.map((outcome) => ({ idJson: '1', outcome })),
    )
    assert.deepEqual(JSON.parse(body), { successful: [], failed: [], fatal: [], ...expected })
  }
  const typed = batchAnswer('push', [
    { idJson: '1', outcome: sent('a') },
    { idJson: '"1"', outcome: fatal('c') },
  ])
  assert.deepEqual(JSON.parse(typed), { successful: [], failed: [], fatal: [{ id: '1', error: 'c' }] })
})

test("the platform reads the operator's batch answer as the same outcomes", () => {
  const outcomes = [sent('p1'), failed('blocked'), fatal('busy', 'p3')]
  const body = batchAnswer(
    'site',
    outcomes.map((outcome, n) => ({ idJson: ids[n], outcome })),
  )
  const read = readBatchAnswer({ channel: 'site', ids, status: 200, body })
  assert.deepEqual(read.warnings, [])
  assert.deepEqual(read.outcomes.map(brief), [
    'successful p1',
    'failed suppressed: blocked',
    'fatal unavailable, message: busy',
  ])
  assert.equal(read.outcomes[2]?.category === 'fatal' && read.outcomes[2].ref, 'p3')
})

test('an identifier of a batch is a string, or an integer with every digit', () => {
  for (const channel of ['push', 'site'] as const) {
    const name = channel === 'push' ? 'push_id' : 'site_notification_id'
    for (const [written, expected] of [
      ['12345', '12345'],
      ['9007199254740993', '9007199254740993'],
      ['9223372036854775807', '9223372036854775807'],
      ['"9007199254740993"', '9007199254740993'],
      ...['1.5', '1.0', '1e3', '1e400', '-1', '9223372036854775808', 'null'].map((text) => [text, undefined] as const),
    ] as const) {
      const body = `{"successful":[{"${name}":"a","id":"first"},7,{"id":"8","${name}":${written}}]}`
      const { outcomes } = readBatchAnswer({ channel, ids: ['first', '7', '8'], status: 200, body, now: 0 })
      const refs = outcomes.map((outcome) => (outcome.category === 'successful' ? outcome.ref : outcome.category))
      assert.deepEqual(refs, ['a', undefined, expected], `${channel} ${written}`)
    }
  }
})
