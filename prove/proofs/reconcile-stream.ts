// A list five times as long is answered in the same memory, exactly, with the list of the other brand left out.

import assert from 'node:assert/strict'
import { startChild } from '../../bench/harness/child.ts'
import { postgresPlayers, sqlitePlayers } from '../../bench/harness/players.ts'
import { readList } from '../../bench/harness/read-list.ts'
import { type Store, sqliteStore } from '../../bench/harness/stores.ts'
import type { Proof } from '../harness/proof.ts'

const server = new URL('../../bench/servers/reconciliation.ts', import.meta.url)
const mostMb = 256
/** A process's memory is not the same twice. */
const slackMb = 32

function reconcileStream(
  engine: string,
  fill: (count: number) => Promise<Store>,
  needs: Pick<Proof, 'needs'> = {},
): Proof {
  return {
    name: `reconcile-stream-${engine.toLowerCase()}`,
    claims: `10,000,000 ids of ${engine} are streamed in at most ${mostMb} MB, in the memory of 2,000,000`,
    ...needs,
    boundSeconds: { small: 60, full: 600 },
    async run({ small, say }) {
      const [shorter, longer] = small ? [20_000, 100_000] : [2_000_000, 10_000_000]
      const less = await measured(shorter, fill)
      const more = await measured(longer, fill)
      for (const { size, seconds, peak } of [less, more])
        say(`${size.toLocaleString('en')} ids in ${seconds.toFixed(2)} s, peak ${peak} MB`)
      assert.ok(more.peak <= mostMb, `${more.peak} MB`)
      assert.ok(more.peak <= less.peak + slackMb, `${less.peak} MB for the shorter, ${more.peak} MB for the longer`)
      return { ids: more.size, seconds: more.seconds, peak_mb: more.peak, peak_mb_of_a_fifth: less.peak }
    },
  }
}

interface Measured {
  readonly size: number
  readonly seconds: number
  readonly peak: number
}

/** In a process of its own, twice: what the first list leaves behind must not add to the second. */
async function measured(size: number, fill: (count: number) => Promise<Store>): Promise<Measured> {
  const users = await fill(size)
  const own = await sqliteStore()
  const child = await startChild(server, { part: 'any', args: [users.url, own.url] })
  try {
    const port = await child.call<number>('port')
    await readList(port)
    const list = await readList(port, true)
    assert.equal(list.users, size)
    return { size, seconds: list.seconds, peak: await child.call<number>('peakMb') }
  } finally {
    await child.stop()
    await Promise.all([users.remove(), own.remove()])
  }
}

export const reconcileStreamSqlite = reconcileStream('SQLite', sqlitePlayers)
export const reconcileStreamPostgres = reconcileStream('PostgreSQL', postgresPlayers, { needs: ['postgres'] })
