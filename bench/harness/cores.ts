import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'

/** The server under test runs on the first core, its driver on the second. `any`: not pinned, because it starts processes. */
export type Part = 'server' | 'driver' | 'any'

let found: readonly number[] | undefined
function allowedCores(): readonly number[] {
  if (found) return found
  found = []
  try {
    const list = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? ''
    const cores = list.split(',').flatMap((range) => {
      const [from = 0, to = from] = range.split('-').map(Number)
      return Array.from({ length: to - from + 1 }, (_, i) => from + i)
    })
    const works = cores.length > 1 && spawnSync('taskset', ['-c', String(cores[0]), 'true']).status === 0
    if (works) found = cores
  } catch {
    // Not Linux: nothing is pinned, and machineLine() reports it.
  }
  return found
}

/** Puts `taskset` before a command if it works here. Without it only the ratios are meaningful, not the wall time. */
export function pinned(part: Part, command: readonly string[]): readonly string[] {
  const core = part === 'any' ? undefined : allowedCores()[part === 'server' ? 0 : 1]
  return core === undefined ? command : ['taskset', '-c', String(core), ...command]
}

export function machineLine(): string {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`
  const pinning =
    allowedCores().length > 1 ? 'server and driver pinned to a core each' : 'NOT pinned (no taskset, or one core)'
  return `machine: ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${memory}, Node ${process.versions.node}, ${pinning}`
}
