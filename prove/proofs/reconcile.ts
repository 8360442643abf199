import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { postgresStore, storeAt } from '../../bench/harness/stores.ts'
import type { ShownRun } from '../../src/sides/admin/shown/run.ts'
import { fillCrm } from '../../test/support/fill-crm.ts'
import { idOf } from '../../test/support/scattered-ids.ts'
import { admin } from '../harness/http.ts'
import { startProcess } from '../harness/process.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { adminKey } from '../plans.ts'

/** The number of differing users on each side. */
const differing = 500
const maxMemoryMb = 256
/** The limit that Node 24 has by itself. Node 26 lets new objects take 40 MB more before it collects them, whatever the program does. */
const youngGeneration = { NODE_OPTIONS: '--max-semi-space-size=16' }
/** V8 lets buffers of up to 64 MB wait for their collection, whatever the size of the list. */
const memoryToleranceMb = 64

const proofOn = (engine: 'sqlite' | 'postgres', name: string): Proof => ({
  name,
  claims: `an operator's list is compared with the CRM exactly, in constant memory and linear time, without blocking the platform (${engine})`,
  ...(engine === 'postgres' && { needs: ['postgres'] as const }),
  boundSeconds: { small: 120, full: 900 },
  async run(options, signal) {
    const sizes = options.small ? [10_000, 50_000] : [2_000_000, 10_000_000]
    const runs: Measured[] = []
    for (const size of sizes) runs.push(await reconcile(engine, size, options, signal))
    const [less, more] = runs as [Measured, Measured]
    const grown = more.seconds / less.seconds
    assert.ok(
      more.memoryMb - less.memoryMb <= memoryToleranceMb,
      `memory grew from ${less.memoryMb} to ${more.memoryMb} MB`,
    )
    // The time is at most linear. In small size it is not dominated by the ids.
    assert.ok(options.small || grown <= 6.5, `5 times the ids took ${grown.toFixed(1)} times as long`)
    const figures: Record<string, number> = {}
    for (const { size, ...figuresOf } of runs)
      for (const [figure, value] of Object.entries(figuresOf)) figures[`${figure}_${size}`] = value
    return figures satisfies Figures
  },
})

export const reconcileSqlite = proofOn('sqlite', 'reconcile')
export const reconcilePostgres = proofOn('postgres', 'reconcile-postgres')

interface Measured {
  readonly size: number
  readonly seconds: number
  readonly memoryMb: number
  /** The longest time of another request during the run. */
  readonly longestPauseMs: number
}

async function reconcile(
  engine: 'sqlite' | 'postgres',
  size: number,
  { folder, print }: ProofOptions,
  signal: AbortSignal,
): Promise<Measured> {
  await using store = engine === 'postgres' ? await postgresStore() : storeAt(`sqlite:${join(folder, `${size}.db`)}`)
  await fillCrm(store.url, '1', 0, size)
  const ids = [0, differing, size + differing].map(String)
  const operator = startProcess(new URL('../processes/list-operator.ts', import.meta.url), { args: ids })
  const { port } = (await operator.ready) as { port: number }
  const program = new URL('../processes/reconciling-platform.ts', import.meta.url)
  const platform = startProcess(program, { args: [store.url, `http://127.0.0.1:${port}`], env: youngGeneration })
  const { url } = (await platform.ready) as { url: string }

  const requested = await admin<ShownRun>(url, '/admin/reconciliations', { brand: '1', field: 'blocked' })
  const { run, longestPauseMs } = await pollRun(url, requested.run, signal)
  assert.equal(run.state, 'done', JSON.stringify(run.refused))
  assert.partialDeepStrictEqual(run, {
    ids: size,
    crm_users: size,
    discrepancies: { operator_only: differing, crm_only: differing, too_recent: 0 },
  })
  await assertExported(url, run.run, size)
  const memoryMb = peakMb(platform.pid)
  const seconds = (Date.parse(run.ended_at ?? '') - Date.parse(run.started_at ?? '')) / 1000
  print(
    `${size} ids: ${seconds} s, at most ${memoryMb} MB, other answers within ${longestPauseMs} ms; exactly ${2 * differing} differences`,
  )
  assert.ok(memoryMb <= maxMemoryMb, `${memoryMb} MB are more than ${maxMemoryMb}`)
  for (const each of [platform, operator]) {
    each.signal('SIGKILL')
    await each.ended
  }
  return { size, seconds, memoryMb, longestPauseMs }
}

async function pollRun(
  url: string,
  name: string,
  signal: AbortSignal,
): Promise<{ run: ShownRun; longestPauseMs: number }> {
  let longestPauseMs = 0
  for (;;) {
    signal.throwIfAborted()
    const began = performance.now()
    const run = await admin<ShownRun>(url, `/admin/reconciliations/${name}`)
    longestPauseMs = Math.max(longestPauseMs, Math.round(performance.now() - began))
    if (run.ended_at !== null) return { run, longestPauseMs }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Checks the exported ids: only the operator has the last ids, only the CRM has the first. */
async function assertExported(url: string, run: string, size: number): Promise<void> {
  const response = await fetch(`${url}/admin/reconciliations/${run}/export`, { headers: { 'x-api-key': adminKey } })
  const found = (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { user_id: string; direction: string })
  const idsOf = (direction: string): string[] =>
    found
      .filter((each) => each.direction === direction)
      .map(({ user_id }) => user_id)
      .sort()
  const idsFrom = (from: number): string[] => Array.from({ length: differing }, (_, i) => idOf(from + i)).sort()
  assert.deepEqual(idsOf('operator_only'), idsFrom(size))
  assert.deepEqual(idsOf('crm_only'), idsFrom(0))
}

/** The peak memory of the process, according to the kernel. */
function peakMb(pid: number): number {
  const kb = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kb) / 1024)
}
