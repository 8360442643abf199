// Compares an operator's list exactly with the CRM. The baseline is the usual shell commands: sort, sort, comm.

import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scattered, writeIds } from '../../test/support/scattered-ids.ts'
import type { Benchmark, Contender } from '../harness/benchmark.ts'
import { startChild } from '../harness/child.ts'
import { childContender } from '../harness/child-contender.ts'
import { profiled } from '../harness/profile.ts'
import type { Measure } from '../harness/ratios.ts'
import { postgresStore, type Store, sqliteStore } from '../harness/stores.ts'

const fiveMillion = 5_000_000
/** The number of ids that only one side has, for each side. */
const differing = 5_000

const compareOn = (engine: string, openStore: () => Promise<Store>): Benchmark => ({
  name: `reconcile-compare-${engine}`,
  // At most 1.8 times as long.
  goal: 1 / 1.8,
  baseline: 'LC_ALL=C sort of both lists, one id per line, then comm -3: on all cores',
  about: `comparing 5 million ids, or --size, with as many in the CRM on ${engine}, ${2 * differing} differing: reading the JSON, loading, comparing`,
  async start(options) {
    const ids = options.size ?? fiveMillion
    const folder = await mkdtemp(join(tmpdir(), 'bellwire-bench-ids-'))
    const files = { answer: join(folder, 'answer.json'), operator: join(folder, 'operator'), crm: join(folder, 'crm') }
    const ofOperator = scattered(differing, differing + ids)
    await writeIds(files.answer, ofOperator, 'answer')
    await writeIds(files.operator, ofOperator, 'lines')
    await writeIds(files.crm, scattered(0, ids), 'lines')
    const store = await openStore()
    return {
      subject: await startReconciler(engine, store, ids, files.answer, profiled(options.profileTo, 'subject')),
      baseline: sortAndComm(files, ids, folder),
    }
  },
})

export const reconcileBenchmarks: readonly Benchmark[] = [
  compareOn('sqlite', sqliteStore),
  compareOn('postgres', postgresStore),
]

interface Compared {
  readonly found: number
  readonly seconds: number
  readonly loadSeconds: number
  readonly memoryMb: number
}

async function startReconciler(
  engine: string,
  store: Store,
  ids: number,
  answer: string,
  nodeArgs: readonly string[],
): Promise<Contender> {
  const child = await startChild('reconcile-compare.ts', { part: 'any', args: [store.url], nodeArgs })
  await child.call('fill', [0, ids])
  return childContender({
    name: engine,
    child,
    async run() {
      const { found, seconds, loadSeconds, memoryMb } = await child.call<Compared>('compare', answer)
      if (found !== 2 * differing) throw new Error(`${engine} found ${found} differences, not ${2 * differing}`)
      const notes = { loading: `${loadSeconds.toFixed(2)} s` }
      return { messages: ids, seconds, peakMb: Math.round(memoryMb), notes }
    },
    release: () => store.remove(),
  })
}

function sortAndComm({ operator, crm }: { operator: string; crm: string }, ids: number, folder: string): Contender {
  const script = 'sort "$1" > "$1.sorted"; sort "$2" > "$2.sorted"; comm -3 "$1.sorted" "$2.sorted" | wc -l; times'
  const round = async (): Promise<Measure> => {
    const began = performance.now()
    const output = await runShell(script, [operator, crm])
    const seconds = (performance.now() - began) / 1000
    const found = Number(output.split('\n')[0])
    if (found !== 2 * differing) throw new Error(`comm found ${found} differences`)
    return { messages: ids, seconds, cpuUs: cpuOf(output) }
  }
  return {
    name: 'sort, sort, comm',
    warm: async () => void (await round()),
    round,
    stop: () => rm(folder, { recursive: true, force: true }),
  }
}

async function runShell(script: string, args: readonly string[]): Promise<string> {
  const child = spawn('bash', ['-ec', script, 'bash', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, LC_ALL: 'C' },
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Error(`bash ended with ${code}`)
  return output
}

/** Reads the last line of `times`: user and system time of the children, as 0m1.234s. */
function cpuOf(output: string): number {
  const last = output.trim().split('\n').at(-1) ?? ''
  const seconds = [...last.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + Number(m) * 60 + Number(s), 0)
  return seconds * 1e6
}
