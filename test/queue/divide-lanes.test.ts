import assert from 'node:assert/strict'
import test from 'node:test'
import { divideLanes, type LaneProcess } from '../../src/base/queue/owners/divide-lanes.ts'

const lanes = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${(i >> 1) + 1}/${i % 2 ? 'site' : 'push'}`)
const processes = (count: number, served: readonly string[]): LaneProcess[] =>
  Array.from({ length: count }, (_, i) => ({ owner: `${4711 + i}-9f2c01d3a${i}`, lanes: served }))

function sizesOf(owners: ReadonlyMap<string, string>): number[] {
  const sizes = new Map<string, number>()
  for (const owner of owners.values()) sizes.set(owner, (sizes.get(owner) ?? 0) + 1)
  return [...sizes.values()].sort((a, b) => a - b)
}

test('the shares of processes that can serve all lanes differ by at most one lane', () => {
  for (const [lanesCount, count] of [
    [2_000, 3],
    [10, 4],
    [4, 2],
    [7, 7],
    [1, 1],
    [0, 3],
  ] as const) {
    const owners = divideLanes(processes(count, lanes(lanesCount)))
    assert.equal(owners.size, lanesCount)
    const sizes = sizesOf(owners)
    assert.ok(lanesCount === 0 || (sizes.length === count && (sizes.at(-1) ?? 0) - (sizes[0] ?? 0) <= 1), `${sizes}`)
  }
})

test('with more processes than lanes, each lane has one owner', () => {
  assert.deepEqual(sizesOf(divideLanes(processes(5, lanes(2)))), [1, 1])
})

test('all processes compute the same division, in whatever order they read the rows', () => {
  const all = processes(3, lanes(100))
  assert.deepEqual(divideLanes(all.toReversed()), divideLanes(all))
})

test('when a process joins or dies, few lanes move between the other processes', () => {
  const all = processes(4, lanes(2_000))
  const before = divideLanes(all.slice(0, 3))
  const after = divideLanes(all)
  const moved = [...after].filter(([lane, owner]) => before.get(lane) !== owner)
  const joined = all[3]?.owner
  assert.equal(moved.filter(([, owner]) => owner === joined).length, 500)
  const needless = moved.length - 500
  assert.ok(needless < 200, `${needless} of 1,500 lanes moved between processes that stayed`)
})

test('a lane is assigned only to a process that can serve it, and the other lanes even out the shares', () => {
  const [a, b, c] = processes(3, []) as [LaneProcess, LaneProcess, LaneProcess]
  const all = lanes(90)
  const owners = divideLanes([
    { ...a, lanes: all },
    { ...b, lanes: all.slice(0, 60) },
    { ...c, lanes: all.slice(0, 60) },
  ])
  assert.equal(owners.size, 90)
  for (const lane of all.slice(60)) assert.equal(owners.get(lane), a.owner)
  const sizes = sizesOf(owners)
  assert.ok((sizes[0] ?? 0) >= 25 && (sizes.at(-1) ?? 0) <= 35, `${sizes}`)
})

test('a process without lanes has no share', () => {
  const [a, b] = processes(2, lanes(10)) as [LaneProcess, LaneProcess]
  assert.deepEqual(sizesOf(divideLanes([a, { ...b, lanes: [] }])), [10])
})
