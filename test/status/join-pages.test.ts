// The cursor of polling over several stores.

import assert from 'node:assert/strict'
import test from 'node:test'
import { joinStatusPages } from '../../src/status/join-pages.ts'
import type { StatusPages } from '../../src/status/pages.ts'
import { StoreUnavailable } from '../../src/store/store-unavailable.ts'

/** A store with these statuses. Its cursor is the number of statuses that were read. */
function storeWith(number: number, statuses: readonly string[], over: Partial<StatusPages> = {}) {
  const pages: StatusPages = {
    async read(_brands, after = '0.0', limit) {
      const from = Number(/^(\d+)\.\d+$/.exec(after)?.[1] ?? Number.NaN)
      if (Number.isNaN(from)) return { restart: '0.0' }
      const records = statuses.slice(from, from + limit)
      return { records, next: `${from + records.length}.0` }
    },
    ...over,
  }
  return { number, pages }
}
const away = { read: () => Promise.reject(new StoreUnavailable('away')) }

test('a store that fills the page comes last in the next one', async () => {
  const pages = joinStatusPages(() => [storeWith(0, ['a1', 'a2', 'a3']), storeWith(2, ['b1'])])
  const read: string[][] = []
  for (let after: string | undefined; read.flat().length < 4; ) {
    const page = await pages.read(['1'], after, 2)
    assert.ok(page.restart === undefined)
    read.push([...page.records])
    after = page.next
  }
  assert.deepEqual(read, [
    ['a1', 'a2'],
    ['b1', 'a3'],
  ])
})

test('store 0 alone has the cursor of its store, and understands that of several stores', async () => {
  const pages = joinStatusPages(() => [storeWith(0, ['a', 'b'])])
  assert.deepEqual(await pages.read(['1'], undefined, 10), { records: ['a', 'b'], next: '2.0' })
  assert.deepEqual(await pages.read(['1'], '1.0', 10), { records: ['b'], next: '2.0' })
  assert.deepEqual(await pages.read(['1'], '0-1.0_7-5.x', 10), { records: ['b'], next: '0-2.0_7-5.x' })
})

test('a restart of one store skips no status of another', async () => {
  const pages = joinStatusPages(() => [storeWith(0, ['a', 'b']), storeWith(1, ['c'])])
  assert.deepEqual(await pages.read(['1'], '0-1.0_1-gone', 10), { restart: '0-1.0_1-0.0' })
  assert.deepEqual(await pages.read(['1'], '0-1.0_1-0.0', 10), { records: ['b', 'c'], next: '0-2.0_1-1.0' })
  assert.deepEqual(await pages.read(['1'], '_', 10), { restart: '0.0' })
})

test('a store that is away, or never answers, keeps its cursor; without any store the poll fails', async () => {
  const [here, hangs] = [storeWith(0, ['a']), storeWith(1, [], { read: () => new Promise(() => {}) })]
  for (const store of [storeWith(1, [], away), hangs])
    assert.deepEqual(await joinStatusPages(() => [here, store]).read(['1'], '0-0.0_1-4.0', 10), {
      records: ['a'],
      next: '0-1.0_1-4.0',
    })
  for (const stores of [[], [storeWith(1, [], away)]])
    await assert.rejects(joinStatusPages(() => stores).read(['1'], '1-4.0', 10), StoreUnavailable)
})
