import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endProcesses } from './process.ts'
import type { Figures, Proof } from './proof.ts'

export interface Verdict {
  readonly ok: boolean
  readonly figures: Figures
  readonly error?: string
  /** Where the evidence is, if the proof failed. */
  readonly kept?: string
}

/** Runs a proof within its bound. Whatever happens, its processes end; what it left on disk stays only if it failed. */
export async function runProof(proof: Proof, small: boolean, say: (line: string) => void): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), `bellwire-${proof.name}-`))
  const seconds = proof.boundSeconds[small ? 'small' : 'full']
  const bound = AbortSignal.timeout(seconds * 1000)
  const late = new Promise<never>((_, reject) => {
    bound.addEventListener('abort', () => reject(new Error(`not done within ${seconds} seconds`)))
  })
  const began = performance.now()
  const took = (): number => Math.round((performance.now() - began) / 100) / 10
  try {
    const figures = await Promise.race([proof.run({ small, folder, say }, bound), late])
    await endProcesses()
    await rm(folder, { recursive: true, force: true })
    return { ok: true, figures: { ...figures, seconds: took() } }
  } catch (error) {
    await endProcesses()
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { ok: false, figures: { seconds: took() }, error: what, kept: folder }
  }
}
