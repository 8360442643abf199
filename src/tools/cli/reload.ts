// Applies a changed configuration to a running side: SIGHUP and POST /admin/reload.

import { isDeepStrictEqual } from 'node:util'
import type { Reloaded } from '../../base/http/service.ts'
import { emit } from '../../base/runtime/events.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { leavesOf } from '../../sides/config/leaves.ts'
import { type Config, table } from '../../sides/config/table.ts'

export interface ReloadOptions {
  readonly side: 'operator' | 'platform'
  /** The configuration with which the process started. */
  readonly config: Config
  /** Reads the configuration again. Rejects with all its problems. */
  readonly load: () => Promise<Config>
  /** Applies the settings that can change. Throws before it changes anything. */
  readonly apply: (config: Config) => void
}

const reloadable = ['operator.keys', 'operator.admin_keys', 'platform.keys', 'log.level']
const mostNamed = 100

/** @returns reloads, one call after the other; rejects if the configuration is not valid: then nothing changes */
export function createReload({ side, config: started, load, apply }: ReloadOptions): () => Promise<Reloaded> {
  let current = started
  let last: Promise<unknown> = Promise.resolve()
  const own = (path: string) => path.startsWith(`${side}.`) || path.startsWith('log.')
  const reloadableOf = (path: string) => reloadable.find((name) => new RegExp(`^${name}\\b`).test(path))

  async function reload(): Promise<Reloaded> {
    try {
      const next = await load()
      const applied = new Set(
        changedPaths(current, next)
          .filter(own)
          .flatMap((path) => reloadableOf(path) ?? []),
      )
      const restart = changedPaths(started, next).filter((path) => own(path) && reloadableOf(path) === undefined)
      apply(next)
      current = next
      const result = { applied: [...applied], restart: restart.slice(0, mostNamed) }
      emit('server.reloaded', { side, ...result })
      return result
    } catch (error) {
      emit('server.reload_refused', { side, error: messageOf(error) })
      throw error
    }
  }
  return () => {
    const reloading = last.then(reload)
    last = reloading.catch(() => {})
    return reloading
  }
}

/** The paths of the values that differ. */
function changedPaths(before: Config, after: Config): readonly string[] {
  const [old, fresh] = [before, after].map(
    (config) => new Map(leavesOf(table, config).map((leaf) => [leaf.path, leaf.value])),
  )
  const paths = new Set([...(old?.keys() ?? []), ...(fresh?.keys() ?? [])])
  return [...paths].filter((path) => !isDeepStrictEqual(old?.get(path), fresh?.get(path)))
}
