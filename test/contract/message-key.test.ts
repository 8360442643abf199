import assert from 'node:assert/strict'
import test from 'node:test'
import { messageKey, readMessageKey } from '../../src/contract/message-key.ts'
import { type Activity, readSingle } from '../../src/contract/read-activity.ts'

const parts = { id: '7', userId: '1001', activityId: '5', actionId: '3', triggerHash: 'ab' }

test('the key is a JSON array of the channel and the parts', () => {
  assert.equal(messageKey('push', parts), '["push","7","1001","5","3","ab"]')
  assert.equal(
    messageKey('site', { ...parts, activityId: null, actionId: null, triggerHash: null }),
    '["site","7","1001",null,null,null]',
  )
})

test('a different part makes a different key; the action group does not', () => {
  const keys = [
    messageKey('push', parts),
    messageKey('site', parts),
    messageKey('push', { ...parts, id: '8' }),
    messageKey('push', { ...parts, userId: '1002' }),
    messageKey('push', { ...parts, activityId: '6' }),
    messageKey('push', { ...parts, actionId: '4' }),
    messageKey('push', { ...parts, triggerHash: 'ac' }),
    messageKey('push', { ...parts, triggerHash: '' }),
    messageKey('push', { ...parts, triggerHash: null }),
    messageKey('push', { ...parts, triggerHash: 'null' }),
  ]
  assert.equal(new Set(keys).size, keys.length)
  const record = (group: number, id: string) =>
    readSingle(`{"activity":{"id":${id},"brand_id":1,"user_id":"1001","action_group_id":${group}}}`) as Activity
  assert.equal(messageKey('push', record(1, '7')), messageKey('push', record(2, '7')))
  assert.equal(messageKey('push', record(1, '7')), messageKey('push', record(1, '"7"')))
})

test('special characters in a part cannot change other parts', () => {
  const tricky = { ...parts, userId: 'a","b', triggerHash: '\\"],\u00e9😀\u007f' }
  assert.deepEqual(readMessageKey(messageKey('push', tricky)), { channel: 'push', ...tricky })
  assert.deepEqual(JSON.parse(messageKey('push', tricky)), ['push', '7', 'a","b', '5', '3', '\\"],\u00e9😀\u007f'])
})

test('a text that is not a message key is refused', () => {
  for (const text of [
    '',
    '{}',
    '["mail","7","1001","5","3","ab"]',
    '["push","7","1001"]',
    '["push",7,"1001","5","3","ab"]',
  ]) {
    assert.throws(() => readMessageKey(text))
  }
})
