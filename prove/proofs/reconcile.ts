import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { postgresStore } from '../../bench/harness/stores.ts'
import type { ShownRun } from '../../src/reconcile/shown-run.ts'
import { fillCrm } from '../../test/support/fill-crm.ts'
import { idOf } from '../../test/support/scattered-ids.ts'
import { admin } from '../harness/http.ts'
import { startProcess } from '../harness/process.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { adminKey } from '../plans.ts'

/** On each side, whatever the size. */
const differing = 500
const mostMemoryMb = 256
/** V8 lets buffers of up to 64 MB wait for their collection, whatever the size of the list. */
const flatWithinMb = 64

const proofOn = (engine: 'sqlite' | 'postgres', name: string): Proof => ({
  name,
  claims: `an operator's list is compared with the CRM exactly, in constant memory and linear time, beside everything else (${engine})`,
  ...(engine === 'postgres' && { needs: ['postgres'] as const }),
  boundSeconds: { small: 120, full: 900 },
  async run(options, signal) {
    const sizes = options.small ? [20_000, 100_000] : [2_000_000, 10_000_000]
    const runs: Measured[] = []
    for (const size of sizes) runs.push(await reconcile(engine, size, options, signal))
    const [less, more] = runs as [Measured, Measured]
    const grown = more.seconds / less.seconds
    assert.ok(more.memoryMb - less.memoryMb <= flatWithinMb, `memory grew from ${less.memoryMb} to ${more.memoryMb} MB`)
    // Linear or better; the sizes are one to five. In small most of it is not the ids.
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
  /** Longest that the platform took to answer anything meanwhile. */
  readonly longestPauseMs: number
}

async function reconcile(
  engine: 'sqlite' | 'postgres',
  size: number,
  { folder, say }: ProofOptions,
  signal: AbortSignal,
): Promise<Measured> {
  const { url: store, remove } =
    engine === 'postgres'
      ? await postgresStore()
      : { url: `sqlite:${join(folder, `${size}.db`)}`, remove: async () => {} }
  try {
    await fillCrm(store, '1', 0, size)
    const ids = [0, differing, size + differing].map(String)
    const operator = startProcess(new URL('../processes/list-operator.ts', import.meta.url), { args: ids })
    const { port } = (await operator.ready) as { port: number }
    const program = new URL('../processes/reconciling-platform.ts', import.meta.url)
    const platform = startProcess(program, { args: [store, `http://127.0.0.1:${port}`] })
    const { url } = (await platform.ready) as { url: string }

    const asked = await admin<ShownRun>(url, '/admin/reconciliations', { brand: '1', field: 'blocked' })
    const { run, longestPauseMs } = await watch(url, asked.run, signal)
    assert.equal(run.state, 'done', JSON.stringify(run.refused))
    assert.partialDeepStrictEqual(run, {
      ids: size,
      crm_users: size,
      discrepancies: { operator_only: differing, crm_only: differing, too_recent: 0 },
    })
    await assertFound(url, run.run, size)
    const memoryMb = peakMb(platform.pid)
    const seconds = (Date.parse(run.ended_at ?? '') - Date.parse(run.started_at ?? '')) / 1000
    say(
      `${size} ids: ${seconds} s, at most ${memoryMb} MB, answers within ${longestPauseMs} ms; ${2 * differing} differences, exactly`,
    )
    assert.ok(memoryMb <= mostMemoryMb, `${memoryMb} MB are more than ${mostMemoryMb}`)
    for (const each of [platform, operator]) {
      each.signal('SIGKILL')
      await each.ended
    }
    return { size, seconds, memoryMb, longestPauseMs }
  } finally {
    await remove()
  }
}

async function watch(
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

/** The export is these very ids: the operator alone has the last ones, the CRM the first. */
async function assertFound(url: string, run: string, size: number): Promise<void> {
  const response = await fetch(`${url}/admin/reconciliations/${run}/export`, { headers: { 'x-api-key': adminKey } })
  const found = (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { user_id: string; direction: string })
  const of = (direction: string): string[] =>
    found
      .filter((each) => each.direction === direction)
      .map(({ user_id }) => user_id)
      .sort()
  const idsFrom = (from: number): string[] => Array.from({ length: differing }, (_, i) => idOf(from + i)).sort()
  assert.deepEqual(of('operator_only'), idsFrom(size))
  assert.deepEqual(of('crm_only'), idsFrom(0))
}

/** Most that the process ever had in memory, as the kernel says. */
function peakMb(pid: number): number {
  const kb = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kb) / 1024)
}
