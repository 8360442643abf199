import { Command } from 'commander'
import { readConfig } from '../../sides/config/load.ts'
import { withConfig } from './config-option.ts'
import { describePlatform } from './describe-side.ts'
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
      const read = await readConfig(file)
      const { platform } = read.config
      if (!platform) throw noSection('platform', file)
      await serve(describePlatform(platform), platform, read, file, async (config, configuration) => {
        const { platform: section } = config
        if (!section) throw noSection('platform', file)
        const [{ createPlatform }, { platformOptions }] = await Promise.all([
          import('../../sides/platform/create-platform.ts'),
          import('../../sides/config/compose/compose.ts'),
        ])
        const service = createPlatform({ ...(await platformOptions(section)), configuration })
        return {
          service,
          demandFreeNames({ platform: next }) {
            if (next) service.demandFreeNames(next)
          },
          replaceKeys({ platform: next }) {
            if (next) service.replaceKeys(next)
          },
        }
      })
    })
}
