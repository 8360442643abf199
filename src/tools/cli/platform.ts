import { Command } from 'commander'
import { laneName } from '../../base/queue/lane-name.ts'
import { describeSettings } from '../../sides/config/describe-settings.ts'
import { type ReadConfig, readConfig } from '../../sides/config/load.ts'
import { withStoredLanes } from '../../sides/config/with-stored-lanes.ts'
import type { LaneOptions } from '../../sides/platform/options.ts'
import { withConfig } from './config-option.ts'
import { describePlatform } from './describe-side.ts'
import { watchReloads } from './interruptible.ts'
import { moveBrandCommand } from './move-brand.ts'
import { noSection } from './no-section.ts'
import { serve } from './serve.ts'

export function command(): Command {
  return withConfig(new Command())
    .addCommand(moveBrandCommand())
    .addHelpText(
      'after',
      '\nRuns until SIGTERM or Ctrl-C. docs/settings.md describes all settings.\n\nExamples:\n  bellwire platform\n  BELLWIRE_PLATFORM_STORE=postgres://… bellwire platform --config /etc/bellwire.yaml\n',
    )
    .action(async ({ config: file }: { config?: string }) => {
      const reloads = watchReloads()
      const read = await readConfig(file)
      const { platform } = read.config
      if (!platform) throw noSection('platform', file)
      await serve(
        describePlatform(platform),
        platform,
        read,
        file,
        reloads,
        async (given, { configuration, applyAgain, show }) => {
          const { platform: section } = given.config
          if (!section) throw noSection('platform', file)
          const [{ createPlatform }, { keepUnchanged, laneOptionsFrom, platformOptions }] = await Promise.all([
            import('../../sides/platform/create-platform.ts'),
            import('../../sides/config/compose/compose.ts'),
          ])
          let base = given
          let isOpen = false
          const options = await platformOptions(section)
          let lanes: readonly LaneOptions[] = options.lanes
          const service = createPlatform({
            ...options,
            configuration,
            storedLanes: {
              async read(settings) {
                const merged = await withStoredLanes(base, settings)
                const stored = await readLanes(merged, settings.length, laneOptionsFrom)
                if (!isOpen) {
                  show(merged)
                  lanes = [...lanes, ...stored.map((each) => each.options)]
                }
                isOpen = true
                return stored
              },
              apply: applyAgain,
            },
          })
          return {
            service,
            async checkStore(next) {
              if (next.config.platform) service.demandFreeNames(next.config.platform)
              const stored = service.storedLanes()
              return withStoredLanes(
                next,
                stored.map(({ settings }) => settings),
              )
            },
            async change(next, merged) {
              const { platform: section } = merged.config
              if (!section) throw noSection('platform', file)
              const changed = keepUnchanged(await laneOptionsFrom(section, 0), lanes)
              if (!service.change({ ...section, lanes: changed })) return false
              base = next
              lanes = changed
              return true
            },
          }
        },
      )
    })
}

type LaneOptionsFrom = typeof import('../../sides/config/compose/compose.ts')['laneOptionsFrom']

/** The lanes of the store: the last lanes of the configuration. */
async function readLanes(read: ReadConfig, count: number, laneOptionsFrom: LaneOptionsFrom) {
  const { platform } = read.config
  if (!platform || count === 0) return []
  const first = platform.lanes.length - count
  const described = describeSettings(read, 'platform')
  return (await laneOptionsFrom(platform, first)).map((options, i) => {
    const path = `platform.lanes[${first + i}].`
    const shown = described.filter(({ setting }) => setting.startsWith(path))
    return {
      name: laneName(options.brand, options.channel),
      brand: options.brand,
      shown: Object.fromEntries(shown.map(({ setting, value }) => [setting.slice(path.length), value])),
      options,
    }
  })
}
