// What the overview remembers: outcomes by minute, and alerts until their cause is gone.

import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { clock } from '../../src/base/runtime/clock.ts'
import { emit } from '../../src/base/runtime/events.ts'
import { metrics } from '../../src/base/runtime/metrics.ts'
import { createWatch } from '../../src/sides/console/watch.ts'

test('the curves count the outcomes of each minute and of each ten minutes, in bounded memory', async (t) => {
  metrics()
  let sample = (): unknown => undefined
  t.mock.method(clock, 'setInterval', (action: () => void) => {
    sample = action
    return setTimeout(() => {}, 0)
  })
  const watch = createWatch('platform')
  t.after(() => watch.stop())
  await turn()
  for (let minute = 1; minute <= 1_500; minute++) {
    emit('item.settled', {
      lane: '1/push',
      seq: 1,
      category: 'successful',
      attempt: 1,
      rule: '',
      ageMs: 1,
      untracked: false,
    })
    if (minute === 1_500) emit('item.retry', { lane: '1/push', seq: 2, attempt: 1, reason: 'unavailable', inMs: 1 })
    sample()
    await turn()
  }
  const hour = watch.curve('hour')
  assert.deepEqual(hour.counts.successful, Array(60).fill(1))
  assert.deepEqual(hour.counts.fatal, [...Array(59).fill(0), 1])
  assert.equal(hour.at.length, 60)
  assert.deepEqual(watch.curve('day').counts.successful, Array(144).fill(10))
})

test('an alert is shown once with its remedy and count, the newest first, until its cause is gone', (t) => {
  const watch = createWatch('operator')
  t.after(() => watch.stop())
  for (let i = 0; i < 3; i++)
    emit('provider.alert', { provider: 'fcm', error: 'no token', remedy: 'download a new key' })
  emit('store.lost', { store: '1', error: 'disk full' })
  assert.deepEqual(
    watch.alerts().map(({ name, remedy, count }) => [name, count, remedy.split(' ')[0]]),
    [
      ['store 1 stores nothing', 1, 'Nothing'],
      ['fcm needs attention', 3, 'download'],
    ],
  )
  emit('store.back', { store: '1', downMs: 1 })
  emit('provider.resumed', { provider: 'fcm' })
  assert.deepEqual(watch.alerts(), [])
  for (let i = 0; i < 200; i++) emit('provider.alert', { provider: `p${i}`, error: 'x', remedy: 'y' })
  assert.equal(watch.alerts().length, 50)
})
