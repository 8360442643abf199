import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { atMost } from '../../src/base/runtime/within.ts'
import { postgresDefaults } from '../../src/base/store/postgres-defaults.ts'
import { postgresVariable } from '../plans.ts'
import { endProcesses } from './process.ts'
import type { Figures, Proof } from './proof.ts'

const cleanUpMs = 30_000
const smallLeaseMs = 2_000
/** Each further day costs a partition of each table. */
const smallDaysAhead = 1

export interface Verdict {
  readonly ok: boolean
  readonly figures: Figures
  readonly error?: string
  /** The folder with the evidence, if the proof failed. */
  readonly kept?: string
}

/** Runs a proof within its time limit and ends all its processes. Its files are kept only if it failed. */
export async function runProof(proof: Proof, small: boolean, print: (line: string) => void): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), `bellwire-${proof.name}-`))
  if (small) postgresDefaults.daysAhead = smallDaysAhead
  const leaseMs = small && proof.outlastsLeases ? smallLeaseMs : postgresDefaults.leaseMs
  process.env[postgresVariable] = JSON.stringify({ ...postgresDefaults, leaseMs })
  const seconds = proof.boundSeconds[small ? 'small' : 'full']
  const timeout = AbortSignal.timeout(seconds * 1000)
  const late = new Promise<never>((_, reject) => {
    timeout.addEventListener('abort', () => reject(new Error(`the proof was not complete after ${seconds} seconds`)))
  })
  const began = performance.now()
  const run = proof.run({ small, folder, print }, timeout)
  const elapsedSeconds = (): number => Math.round((performance.now() - began) / 100) / 10
  try {
    const figures = await Promise.race([run, late])
    await endProcesses()
    await rm(folder, { recursive: true, force: true })
    return { ok: true, figures: { ...figures, seconds: elapsedSeconds() } }
  } catch (error) {
    // Without its processes the proof fails soon, and stops its servers. It may have started another process meanwhile.
    await endProcesses()
    await atMost(cleanUpMs, run)
    await endProcesses()
    // With its causes: `fetch failed` alone does not say whether the process has ended.
    return { ok: false, figures: { seconds: elapsedSeconds() }, error: inspect(error), kept: folder }
  }
}
