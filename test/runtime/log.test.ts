import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { emit } from '../../src/base/runtime/events.ts'
import { type LogOptions, startLog } from '../../src/base/runtime/log.ts'

const settled = {
  channel: 'push',
  id: '7',
  ref: 'ref-1',
  category: 'successful',
  rule: 'accepted',
  attempt: 1,
  uncertain: false,
}

test('each attempt writes one structured line', (t) => {
  const lines = logged(t)
  emit('message.settled', { brand: '1', ...settled })
  emit('message.settled', { brand: '2', ...settled, category: 'fatal', rule: 'timeout', attempt: 2, uncertain: true })
  const [first, second] = lines().map((line) => JSON.parse(line))
  assert.match(first.time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  delete first.time
  assert.deepEqual(first, { level: 'info', event: 'message.settled', brand: '1', ...settled, msg: 'attempt settled' })
  assert.equal(second.level, 'warn')
  assert.equal(second.brand, '2')
  assert.equal(lines().length, 2)
})

test('parked statuses and messages write one line a minute for each lane, with their number', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lines = logged(t)
  for (let n = 0; n < 1_000; n++) {
    emit('status.parked', { lane: '1/statuses', code: 'unknown_identifier', reason: `no message has ${n}` })
    emit('message.parked', { lane: '1/unreadable', from: 'queue', reason: `no JSON: ${n}`, bytes: 1 })
  }
  const shown = () => lines().map((line) => JSON.parse(line))
  assert.equal(lines().length, 2)
  assert.partialDeepStrictEqual(shown()[0], { level: 'error', reason: 'no message has 0', count: 1 })
  t.mock.timers.tick(60_000)
  assert.equal(lines().length, 4)
  assert.partialDeepStrictEqual(shown()[2], { event: 'status.parked', lane: '1/statuses', count: 999 })
})

test('everyday outcomes are info, and a warning is for somebody to look at', (t) => {
  const lines = logged(t, { level: 'warn' })
  const failed = { ...settled, brand: '1', category: 'failed' }
  for (const reason of ['suppressed', 'no_device', 'expired', 'rejected'])
    emit('message.settled', { ...failed, reason })
  emit('message.settled', { ...failed, reason: 'misconfigured' })
  assert.deepEqual(
    lines().map((line) => JSON.parse(line).reason),
    ['misconfigured'],
  )
})

test('no line contains a character that a terminal obeys', (t) => {
  for (const format of ['json', 'text'] as const) {
    const lines = logged(t, { format })
    emit('store.lost', { store: 'main', error: 'a\u009b31m\u202eb\u007f\u001b[0m' })
    assert.doesNotMatch(lines().join('').trimEnd(), /[\x00-\x1a\x1c-\x1f\x7f-\x9f\u202e]/)
    if (format === 'json') assert.equal(JSON.parse(lines()[0] as string).error, 'a\u009b31m\u202eb\u007f\u001b[0m')
  }
})

test('events below the level are not written, and have no subscription', (t) => {
  const lines = logged(t, { level: 'warn' })
  emit('message.settled', { brand: '1', ...settled })
  emit('store.commit', { callers: 1, rows: 1, ms: 1, durable: true })
  emit('store.lost', { store: 's', error: 'gone' })
  assert.deepEqual(
    lines().map((line) => JSON.parse(line).event),
    ['store.lost'],
  )
})

test('during an outage of a store, background tasks and refused requests write no lines of their own', (t) => {
  const lines = logged(t)
  const failed = { loop: 'retention', error: 'full', inMs: 100, failures: 2, unavailable: true }
  const refused = { side: 'operator', method: 'POST', path: '/x', status: 503, error: 'full' } as const
  const eventsOf = (): string[] => lines().map((line) => JSON.parse(line).event)
  emit('loop.failed', { ...failed, failures: 1 }) // just before the outage is noticed
  emit('store.lost', { store: 's', error: 'full' })
  emit('loop.failed', failed)
  emit('request.refused', refused)
  assert.deepEqual(eventsOf(), ['store.lost'])
  emit('loop.failed', { ...failed, unavailable: false })
  emit('store.back', { store: 's', downMs: 1 })
  emit('loop.failed', failed)
  emit('request.refused', refused)
  assert.deepEqual(eventsOf(), ['store.lost', 'loop.failed', 'store.back', 'loop.failed', 'request.refused'])
})

test('a secret is never written, whatever its place and its characters', (t) => {
  const canaries = ['canary-key-0000000000001', 'canary"quoted\\key000001', 'canary-key', 'p(a)ss+[w]ord*canary']
  for (const format of ['json', 'text'] as const) {
    const lines = logged(t, { format, secrets: canaries, level: 'debug' })
    for (const canary of canaries) {
      emit('store.lost', { store: 's', error: `connect postgres://bell:${canary}@db failed` })
      emit('provider.alert', { provider: canary, error: `401 for ${canary}`, remedy: `replace ${canary}` })
      emit('request.refused', {
        side: 'operator',
        method: 'GET',
        path: `/app/inbox/stream?token=${canary}x`,
        status: 401,
        error: canary,
      })
      emit('call.done', { provider: 'p', messages: 1, ms: 1, rule: canary, fatal: 0, failed: 0, error: canary })
    }
    assert.equal(lines().length, 16)
    assert.doesNotMatch(lines().join(''), /canary/)
    assert.match(lines().join(''), /\[redacted\]/)
    assert.doesNotMatch(lines().join(''), /token=/)
  }
})

test('user ids are not written', (t) => {
  const lines = logged(t, { level: 'debug' })
  emit('inbox.opened', { brand: '1', userId: 'user-canary', streams: 1 })
  assert.equal(lines().length, 1)
  assert.doesNotMatch(lines().join(''), /user-canary/)
})

test('the text format writes one line for each event', (t) => {
  const lines = logged(t, { format: 'text' })
  emit('server.listening', { side: 'operator', url: 'http://127.0.0.1:7001' })
  emit('lane.held', { lane: '1/push', reason: 'two words', forMs: 5 })
  const plain = lines().map((line) => line.replace(/\x1b\[\d+m/g, ''))
  assert.match(
    plain[0] ?? '',
    /^\d\d:\d\d:\d\d\.\d{3} info {2}listening {2}side=operator url=http:\/\/127\.0\.0\.1:7001\n$/,
  )
  assert.match(plain[1] ?? '', /warn {2}lane held, next try in 1 s {2}lane=1\/push reason="two words" forMs=5\n$/)
})

test('the text format escapes terminal control characters readably', (t) => {
  const lines = logged(t, { format: 'text' })
  emit('lane.held', { lane: '1/push', reason: 'a\u009b31mb\u202ec\u007f', forMs: 5 })
  emit('lane.held', { lane: 'x\u009b2J', reason: 'plain', forMs: 5 })
  const text = lines()
    .join('')
    .replace(/\x1b\[\d+m/g, '')
  assert.doesNotMatch(text.replaceAll('\n', ''), /[\x00-\x1f\x7f-\x9f\u202e]/)
  assert.match(text, /reason=a\\u009b31mb\\u202ec\\u007f/)
})

test('after stop() no event is written', (t) => {
  const written: string[] = []
  const log = startLog({ level: 'info', format: 'json', to: { write: (line) => written.push(line) } })
  t.after(() => log.stop())
  log.stop()
  emit('store.lost', { store: 's', error: 'x' })
  assert.deepEqual(written, [])
})

function logged(t: TestContext, options: Partial<LogOptions> = {}): () => readonly string[] {
  const written: string[] = []
  const log = startLog({ level: 'info', format: 'json', ...options, to: { write: (line) => written.push(line) } })
  t.after(() => log.stop())
  return () => written
}
