import assert from 'node:assert/strict'
import test from 'node:test'
import { createDeviceStore } from '../../src/tools/stand-ins/device-store.ts'

const createStore = () => createDeviceStore<'phone'>({ keep: (_, newest) => [newest], clock: () => 0 })

test('a notification with the tag of a shown one replaces it', () => {
  const store = createStore()
  store.add('t', 'phone')
  for (const [tag, title] of [
    ['a', 'one'],
    ['b', 'two'],
    ['a', 'three'],
    [undefined, 'four'],
    [undefined, 'five'],
  ] as const)
    store.deliver('t', { title, data: {}, expiresAt: 1, ...(tag && { tag }) })
  assert.deepEqual(
    store.shown('t').map(({ title, replaced }) => [title, replaced]),
    [
      ['three', 1],
      ['two', 0],
      ['four', 0],
      ['five', 0],
    ],
  )
})

test('of many notifications, a device shows the newest 10,000', () => {
  const store = createStore()
  store.add('t', 'phone')
  for (let n = 1; n <= 10_002; n++) store.deliver('t', { tag: `${n}`, data: {}, expiresAt: 1 })
  const tags = store.shown('t').map(({ tag }) => tag)
  assert.deepEqual([tags.length, tags[0], tags.at(-1)], [10_000, '3', '10002'])
})
