import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

export interface SelfTime {
  readonly where: string
  readonly ms: number
  /** Of the time without idle time. */
  readonly share: number
}

/** Node's arguments with which a process writes a profile of this name into the folder when it ends. */
export function profiled(folder: string | undefined, name: string): readonly string[] {
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}.cpuprofile`]
}

/** Reads each .cpuprofile in a folder. @returns the self time of functions, largest first */
export async function summariseProfiles(
  folder: string,
  top: number,
): Promise<ReadonlyMap<string, readonly SelfTime[]>> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.cpuprofile')).sort()
  if (files.length === 0) throw new Error(`no CPU profile in ${folder}: did the subject end by itself?`)
  const found = new Map<string, readonly SelfTime[]>()
  for (const file of files) {
    const profile = JSON.parse(await readFile(join(folder, file), 'utf8')) as CpuProfile
    found.set(file.replace('.cpuprofile', ''), selfTimes(profile).slice(0, top))
  }
  return found
}

export function selfTimes(profile: CpuProfile): readonly SelfTime[] {
  const places = new Map(profile.nodes.map((node) => [node.id, place(node.callFrame)]))
  const us = new Map<string, number>()
  let busy = 0
  profile.samples.forEach((id, i) => {
    const where = places.get(id) ?? '?'
    const delta = Math.max(0, profile.timeDeltas[i] ?? 0)
    if (where === '(idle)' || where === '(root)') return
    busy += delta
    us.set(where, (us.get(where) ?? 0) + delta)
  })
  return [...us].map(([where, time]) => ({ where, ms: time / 1000, share: time / busy })).sort((a, b) => b.ms - a.ms)
}

function place(frame: CpuProfile['nodes'][number]['callFrame']): string {
  const name = frame.functionName || '(anonymous)'
  if (!frame.url) return name
  const file = frame.url.split('/node_modules/').at(-1)?.split('/').slice(-3).join('/')
  return `${name}  ${file}:${frame.lineNumber + 1}`
}
