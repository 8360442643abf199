import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Benchmark, Contender, RunOptions } from '../harness/benchmark.ts'
import { startChild } from '../harness/child.ts'
import { childContender } from '../harness/child-contender.ts'
import { blockedOfBrand1, postgresPlayers } from '../harness/players.ts'
import { profiled } from '../harness/profile.ts'
import { readList } from '../harness/read-list.ts'
import { type Store, sqliteStore } from '../harness/stores.ts'

const fiveMillion = 5_000_000

/** A round is one whole list. `--size` sets its length. */
export const reconcileStream: Benchmark = {
  name: 'reconcile-stream-postgres',
  goal: 0.77, // 1.3 times the time of psql
  baseline: 'psql -c "copy (…) to stdout" > /dev/null',
  about: 'the ids of all blocked users, 5 million without --size, over a socket as JSON',
  async start(options) {
    const size = options.size ?? fiveMillion
    const store = await postgresPlayers(size)
    return {
      subject: await startOperator(store, size, options),
      baseline: await shellContender(psql(store.url), size, () => store.remove()),
    }
  },
}

function psql(url: string): readonly string[] {
  const plain = new URL(url)
  const schema = plain.searchParams.get('schema')
  plain.searchParams.delete('schema')
  return ['psql', plain.href, '-qc', `set search_path = ${schema}`, '-c', `copy (${blockedOfBrand1}) to stdout`]
}

async function startOperator(database: Store, size: number, options: RunOptions): Promise<Contender> {
  const own = await sqliteStore()
  const child = await startChild('reconciliation.ts', {
    part: 'any',
    args: [database.url, own.url],
    nodeArgs: profiled(options.profileTo, 'subject'),
  })
  const port = await child.call<number>('port')
  const { users } = await readList(port, true)
  if (users !== size) throw new Error(`${users} users were listed, not ${size}`)
  return childContender({
    name: 'operator',
    child,
    async run() {
      const { seconds } = await readList(port)
      return { messages: size, seconds, peakMb: await child.call<number>('peakMb') }
    },
    release: () => own.remove(),
  })
}

/** A program that prints the ids. Its CPU is not measured. */
async function shellContender(command: readonly string[], size: number, stop: () => Promise<void>): Promise<Contender> {
  const [name = '', ...args] = command
  const round = async () => {
    const began = performance.now()
    const running = spawn(name, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    const [code] = (await Promise.race([
      once(running, 'exit'),
      once(running, 'error').then(([error]) => Promise.reject(error)),
    ]).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw new Error(`${name} is not installed: install it to run the baseline`)
      throw error
    })) as [number]
    if (code !== 0) throw new Error(`${name} ended with ${code}`)
    return { messages: size, seconds: (performance.now() - began) / 1000, cpuUs: Number.NaN }
  }
  return { name, warm: async () => void (await round()), round, stop }
}
