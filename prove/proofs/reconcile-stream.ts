// A list that is five times as long needs the same memory. It is exact and excludes the other brand.

import assert from 'node:assert/strict'
import { startChild } from '../../bench/harness/child.ts'
import { postgresPlayers } from '../../bench/harness/players.ts'
import { readList } from '../../bench/harness/read-list.ts'
import { sqliteStore } from '../../bench/harness/stores.ts'
import type { Proof } from '../harness/proof.ts'

const maxMb = 256
/** The tolerance: the memory of a process varies between runs. */
const toleranceMb = 32

export const reconcileStream: Proof = {
  name: 'reconcile-stream-postgresql',
  claims: `5,000,000 ids of PostgreSQL are streamed completely with at most ${maxMb} MB of memory, no more than for 1,000,000`,
  needs: ['postgres'],
  boundSeconds: { small: 60, full: 600 },
  async run({ small, print }) {
    const [shorter, longer] = small ? [20_000, 100_000] : [2_000_000, 10_000_000]
    const less = await measureStream(shorter)
    const more = await measureStream(longer)
    for (const { size, seconds, peak } of [less, more])
      print(`${size.toLocaleString('en')} ids in ${seconds.toFixed(2)} s, peak ${peak} MB`)
    assert.ok(more.peak <= maxMb, `${more.peak} MB`)
    assert.ok(more.peak <= less.peak + toleranceMb, `${less.peak} MB for the shorter, ${more.peak} MB for the longer`)
    return { ids: more.size, seconds: more.seconds, peak_mb: more.peak, peak_mb_of_a_fifth: less.peak }
  },
}

/** Reads the list twice in a separate process: memory of the first list must not add to the second. */
async function measureStream(size: number) {
  await using users = await postgresPlayers(size)
  await using own = await sqliteStore()
  const child = await startChild('reconciliation.ts', { part: 'any', args: [users.url, own.url] })
  try {
    const port = await child.call<number>('port')
    await readList(port)
    const list = await readList(port, true)
    assert.equal(list.users, size)
    return { size, seconds: list.seconds, peak: await child.call<number>('peakMb') }
  } finally {
    await child.stop()
  }
}
