// Applies a changed configuration to a running side: SIGHUP and POST /admin/reload.

import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { HttpError, type Side } from '../../base/http/http.ts'
import type { Configuration, LatestReload, Reloaded, ShownSetting } from '../../base/http/service.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { describeSettings } from '../../sides/config/describe-settings.ts'
import { leavesOf } from '../../sides/config/leaves.ts'
import type { ReadConfig } from '../../sides/config/load.ts'
import { ConfigError } from '../../sides/config/problem.ts'
import { type Config, table } from '../../sides/config/table.ts'

export interface ReloadOptions {
  readonly side: Side
  /** The configuration with which the process started. */
  readonly started: ReadConfig
  /** Reads the configuration again. Rejects with all its problems. */
  readonly read: () => Promise<ReadConfig>
  /** Resolves when the side is no longer being replaced. A replacement that fails calls `undo` first. Absent: it is not. */
  readonly replacing?: () => Promise<void> | undefined
  /**
   * Applies the settings that can change. Throws before it changes anything.
   *
   * @param how inPlace: only keys, lanes and the log have changed. A side that cannot change them is replaced too
   * @param undo to be called if the next side does not start and the former one runs again: the next reload applies all changes
   */
  readonly apply: (
    next: ReadConfig,
    how: 'inPlace' | 'replaceSide',
    undo: (error: unknown) => void,
  ) => void | Promise<void>
  /** The configuration with the lanes of the store. */
  readonly shown?: () => ReadConfig | undefined
}

/** These change within the running side, and are named as a whole. */
const keysAndLog = ['operator.keys', 'operator.admin_keys', 'platform.keys', 'log.level', 'log.format']
const inPlace = [...keysAndLog, 'platform.lanes', 'operator.tls', 'platform.tls']
/** The addresses and the stores stay as they were at the start. */
const fixed = {
  settings: [
    ...['host', 'port', 'admin', 'connections', 'connections_per_address', 'trusted_proxies', 'stop_within'],
    ...['store', 'stores'],
  ],
  options: [
    ...['host', 'port', 'admin', 'connections', 'connectionsPerAddress', 'trustedProxies', 'stopWithinMs'],
    ...['store', 'stores'],
  ],
}
const mostNamed = 100
const unset = 'not set'

/** @returns the configuration of this process. Its reloads are one after the other */
export function createConfiguration({
  side,
  started,
  read,
  replacing = () => undefined,
  apply,
  shown = () => undefined,
}: ReloadOptions): Configuration & {
  /** Applies the same configuration again, because the lanes of the store have changed. */
  applyAgain(): Promise<void>
  /** As reload(), after any replacement of the side. */
  reloadLater(): Promise<Reloaded>
} {
  let current = started
  let files = digestFiles(started.config)
  let latest: LatestReload | undefined
  let last: Promise<unknown> = Promise.resolve()
  const isOf = (names: readonly string[], path: string) => names.find((name) => new RegExp(`^${name}\\b`).test(path))
  const fixedNames = fixed.settings.map((name) => `${side}\\.${name}`)
  // A process listens with HTTP or with HTTPS.
  const needsRestart = (path: string, { config }: ReadConfig = current) =>
    isOf(fixedNames, path) !== undefined ||
    (isOf([`${side}\\.tls`], path) !== undefined && !(started.config[side]?.tls && config[side]?.tls))
  const changesOf = (before: ReadConfig, after: ReadConfig) =>
    changedPaths(before, after, side).filter((path) => path.startsWith(`${side}.`) || path.startsWith('log.'))
  const fix = (next: ReadConfig): ReadConfig => ({ ...next, config: withFixed(next.config, started.config, side) })
  const pendingChanges = (next: ReadConfig) => changesOf(started, next).filter((path) => needsRestart(path, next))

  function noteRefused(error: unknown, at: number): void {
    latest = { at, error: messageOf(error) }
    emit('server.reload_refused', { side, error: messageOf(error) })
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const working = last.then(work)
    last = working.catch(() => {})
    return working
  }

  async function reload(): Promise<Reloaded> {
    const at = clock.now()
    try {
      await replacing()
      const next = await read()
      const former = { current, files }
      const undo = (error: unknown): void => {
        ;({ current, files } = former)
        noteRefused(error, at)
      }
      const nextFiles = await digestFiles(next.config)
      const changed = changesOf(current, next).filter((path) => !needsRestart(path, next))
      const reread = changedKeys(await files, nextFiles).filter((path) => path.startsWith(`${side}.`))
      const paths = [...new Set([...changed, ...reread])]
      const small = paths.every((path) => isOf(inPlace, path)) && !hasNewBrand(current.config, next.config)
      const applied = [...new Set(paths.map((path) => isOf(keysAndLog, path) ?? path))].slice(0, mostNamed)
      const restart = pendingChanges(next)
      await apply(fix(next), small ? 'inPlace' : 'replaceSide', undo)
      current = next
      files = Promise.resolve(nextFiles)
      const result = { applied, restart: restart.slice(0, mostNamed) }
      latest = { at, ...result }
      emit('server.reloaded', { side, ...result })
      return result
    } catch (error) {
      noteRefused(error, at)
      throw error
    }
  }
  return {
    describe() {
      const pending = pendingChanges(current)
      // A list of values is one row.
      const waits = ({ setting }: ShownSetting) =>
        pending.some((path) => path === setting || path.startsWith(`${setting}[`))
      const next = new Map(describeSettings(shown() ?? current, side).map((each) => [each.setting, each]))
      const isApplied = ({ setting }: ShownSetting) => !needsRestart(setting)
      const running = describeSettings(started, side).filter((each) => !isApplied(each))
      const known = new Set(running.map(({ setting }) => setting))
      const settings = [
        ...running.map((each) =>
          waits(each) ? { ...each, after_restart: next.get(each.setting)?.value ?? unset } : each,
        ),
        ...[...next.values()]
          .filter((each) => isApplied(each) || (waits(each) && !known.has(each.setting)))
          .map((each) => (isApplied(each) ? each : { ...each, value: unset, after_restart: each.value })),
      ]
      return { settings, ...(latest && { reload: latest }) }
    },
    applyAgain: () =>
      inTurn(async () => {
        await replacing()
        await apply(fix(current), 'inPlace', (error) => noteRefused(error, clock.now()))
      }),
    reload: () =>
      inTurn(async () => {
        // The replacement waits for the requests in progress, of which this is one.
        if (replacing()) throw new HttpError(503, 'another reload is replacing this side: repeat the request', 1)
        return reload()
      }),
    reloadLater: () => inTurn(reload),
  }
}

/** The paths of the values that differ. Of JSON, only the second list has the values. */
function changedPaths(before: ReadConfig, after: ReadConfig, side: Side): readonly string[] {
  const [old, fresh] = [before, after].map(
    (read) =>
      new Map([
        ...describeSettings(read, side).map(({ setting, value }) => [setting, value] as const),
        ...leavesOf(table, read.config).map(({ path, value }) => [path, value] as const),
      ]),
  )
  return changedKeys(old as ReadonlyMap<string, unknown>, fresh as ReadonlyMap<string, unknown>)
}

const changedKeys = (old: ReadonlyMap<string, unknown>, fresh: ReadonlyMap<string, unknown>): readonly string[] =>
  [...new Set([...old.keys(), ...fresh.keys()])].filter((path) => !isDeepStrictEqual(old.get(path), fresh.get(path)))

/** The digests of the files whose contents are a part of the configuration, by the path of the setting. */
async function digestFiles(config: Config): Promise<ReadonlyMap<string, string>> {
  const named = leavesOf(table, config).filter(({ leaf }) => leaf.readWithConfig)
  return new Map(
    await Promise.all(
      named.map(async ({ path, value }) => {
        const content = await readFile(String(value)).catch(() => Buffer.of())
        return [path, hash('sha256', content)] as const
      }),
    ),
  )
}

/** A running operator knows the brands of its start. */
function hasNewBrand({ operator }: Config, next: Config): boolean {
  const known = new Set(operator?.keys.flatMap(({ brands }) => brands))
  return next.operator?.keys.some(({ brands }) => brands.some((brand) => !known.has(brand))) ?? false
}

/** The next configuration, with the settings of the start that need a restart. */
function withFixed(next: Config, started: Config, side: Side): Config {
  const [section, before] = [next[side], started[side]] as [
    Record<string, unknown> | undefined,
    Record<string, unknown>,
  ]
  if (!section) {
    const remedy = 'restore it, or stop the process'
    throw new ConfigError([
      { path: side, where: '', description: 'the section is missing in the configuration', remedy },
    ])
  }
  const kept = Object.fromEntries(fixed.options.flatMap((name) => (name in before ? [[name, before[name]]] : [])))
  const changeable = Object.entries(section).filter(([name]) => !fixed.options.includes(name))
  return { ...next, [side]: { ...Object.fromEntries(changeable), ...kept } }
}
