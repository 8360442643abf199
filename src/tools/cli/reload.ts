// Applies a changed configuration to a running side: SIGHUP and POST /admin/reload.

import { isDeepStrictEqual } from 'node:util'
import type { Configuration, LatestReload, Reloaded, ShownSetting } from '../../base/http/service.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { describeSettings } from '../../sides/config/describe-settings.ts'
import { leavesOf } from '../../sides/config/leaves.ts'
import type { ReadConfig } from '../../sides/config/load.ts'
import { type Config, table } from '../../sides/config/table.ts'

export interface ReloadOptions {
  readonly side: 'operator' | 'platform'
  /** The configuration with which the process started. */
  readonly started: ReadConfig
  /** Reads the configuration again. Rejects with all its problems. */
  readonly read: () => Promise<ReadConfig>
  /** Applies the settings that can change. Throws before it changes anything. */
  readonly apply: (config: Config) => void
}

const reloadable = ['operator.keys', 'operator.admin_keys', 'platform.keys', 'log.level']
const mostNamed = 100
const unset = 'not set'

/** @returns the configuration of this process. Its reloads are one after the other */
export function createConfiguration({ side, started, read, apply }: ReloadOptions): Configuration {
  let current = started
  let latest: LatestReload | undefined
  let last: Promise<unknown> = Promise.resolve()
  const own = (path: string) => path.startsWith(`${side}.`) || path.startsWith('log.')
  const reloadableOf = (path: string) => reloadable.find((name) => new RegExp(`^${name}\\b`).test(path))
  const pendingChanges = (next: ReadConfig) =>
    changedPaths(started.config, next.config).filter((path) => own(path) && reloadableOf(path) === undefined)

  async function reload(): Promise<Reloaded> {
    const at = clock.now()
    try {
      const next = await read()
      const applied = new Set(
        changedPaths(current.config, next.config)
          .filter(own)
          .flatMap((path) => reloadableOf(path) ?? []),
      )
      const restart = pendingChanges(next)
      apply(next.config)
      current = next
      const result = { applied: [...applied], restart: restart.slice(0, mostNamed) }
      latest = { at, ...result }
      emit('server.reloaded', { side, ...result })
      return result
    } catch (error) {
      latest = { at, error: messageOf(error) }
      emit('server.reload_refused', { side, error: messageOf(error) })
      throw error
    }
  }
  return {
    describe() {
      const restart = new Set(pendingChanges(current))
      const next = new Map(describeSettings(current, side).map((each) => [each.setting, each]))
      const isApplied = ({ setting }: ShownSetting) => reloadableOf(setting) !== undefined
      const running = describeSettings(started, side).filter((each) => !isApplied(each))
      const known = new Set(running.map(({ setting }) => setting))
      const settings = [
        ...running.map((each) =>
          restart.has(each.setting) ? { ...each, after_restart: next.get(each.setting)?.value ?? unset } : each,
        ),
        ...[...next.values()]
          .filter((each) => isApplied(each) || (restart.has(each.setting) && !known.has(each.setting)))
          .map((each) => (isApplied(each) ? each : { ...each, value: unset, after_restart: each.value })),
      ]
      return { settings, ...(latest && { reload: latest }) }
    },
    reload() {
      const reloading = last.then(reload)
      last = reloading.catch(() => {})
      return reloading
    },
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
