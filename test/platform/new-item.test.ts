import assert from 'node:assert/strict'
import test from 'node:test'
import type { NewItem } from '../../src/base/queue/queue.ts'
import { type Activity, readSingle } from '../../src/contract/read-activity.ts'
import { type RecordRules, toNewItem } from '../../src/sides/platform/new-item.ts'

const now = Date.parse('2026-11-23T12:00:00Z')

function itemOf(members: string, rules: Partial<RecordRules> = {}, keyName = 'crm'): NewItem | { invalid: string } {
  const read = readSingle(Buffer.from(`{"activity":{"id":5,"brand_id":1,"user_id":"1001","activity_id":7}${members}}`))
  assert.ok(!('invalid' in read))
  return toNewItem(read as Activity, { rules: { channel: 'push', ...rules }, keyName, now })
}

test('row 56: the expiry of a record is read at its pointer', () => {
  assert.partialDeepStrictEqual(itemOf(',"expires_at":"2026-11-23T13:00:00Z"'), { expiresAt: now + 3_600_000 })
  assert.partialDeepStrictEqual(itemOf(',"meta":{"until":1795438800}', { expires: { at: '/meta/until' } }), {
    expiresAt: 1_795_438_800_000,
  })
  for (const members of ['', ',"expires_at":null', ',"title":"expires_at"'])
    assert.equal((itemOf(members) as NewItem).expiresAt, undefined, members)
})

test('row 56: a record without an expiry gets the default of its lane, also in its text', () => {
  const item = itemOf('', { expires: { afterMs: 60_000 } }) as NewItem
  assert.equal(item.expiresAt, now + 60_000)
  assert.equal(JSON.parse(item.text).expires_at, '2026-11-23T12:01:00.000Z')
  const empty = itemOf(',"expires_at":null,"title":"Hello"', { expires: { afterMs: 60_000 } }) as NewItem
  assert.match(empty.text, /,"expires_at":"2026-11-23T12:01:00.000Z","title":"Hello"}$/, 'the member occurs once')
  const named = itemOf(',"expires_at":1795438800', { expires: { afterMs: 60_000 } }) as NewItem
  assert.deepEqual([named.expiresAt, JSON.parse(named.text).expires_at], [1_795_438_800_000, 1_795_438_800])
})

test('a record with an unreadable expiry is refused with the pointer', () => {
  assert.deepEqual(itemOf(',"expires_at":"tomorrow"'), {
    invalid: 'the expiry at /expires_at is neither a date and time with its zone nor the seconds since 1970',
  })
})

test('row 57: a record is transactional by its priority, its activity or its API key', () => {
  const isTransactional = (...args: Parameters<typeof itemOf>): boolean =>
    (itemOf(...args) as NewItem).transactional === true
  assert.equal(isTransactional(',"priority":"transactional"'), true)
  assert.equal(isTransactional(',"\\u0070riority":"transactional"'), true, 'an escaped name')
  assert.equal(isTransactional(',"kind":"transactional"', { transactional: { at: '/kind' } }), true)
  assert.equal(isTransactional('', { transactional: { activities: ['7'] } }), true)
  assert.equal(isTransactional('', { transactional: { keys: ['crm'] } }), true)
  assert.equal(isTransactional('', { transactional: { activities: ['8'], keys: ['shop'] } }), false)
  assert.equal(isTransactional(',"priority":"campaign"'), false)
})

test('row 42: a record whose activity, or a field of it, occurs twice is refused: parsers disagree about its value', () => {
  const activity = '{"id":5,"brand_id":2,"user_id":"1001"}'
  const refusalOf = (text: string): string | undefined => {
    const read = readSingle(Buffer.from(text))
    assert.ok(!('invalid' in read), text)
    const item = toNewItem(read, { rules: { channel: 'push' }, keyName: 'crm', now })
    return 'invalid' in item ? item.invalid : undefined
  }
  for (const [text, member] of [
    [`{"activity":{"id":6,"brand_id":1,"user_id":"1"},"activity":${activity}}`, 'activity'],
    [`{"activity":{"id":6},"title":"x","\\u0061ctivity":${activity}}`, 'activity'],
    ['{"activity":{"id":5,"brand_id":1,"user_id":"1","brand_id":2}}', 'activity.brand_id'],
    ['{"title":"x","activity":{"id":5,"brand_id":2,"user_id":"1","i\\u0064":6}}', 'activity.id'],
  ] as const)
    assert.equal(refusalOf(text), `${member} occurs twice: send it once`, text)
  for (const text of [
    `{"activity":${activity},"data":{"id":1,"activity":{"id":2,"id":3}},"id":7}`,
    `{"title":"x","activity":${activity}}`,
  ])
    assert.equal(refusalOf(text), undefined, text)
})
