import { Command } from 'commander'
import { readConfig } from '../../sides/config/load.ts'
import { withConfig } from './config-option.ts'
import { describeOperator } from './describe-side.ts'
import { watchReloads } from './interruptible.ts'
import { noSection } from './no-section.ts'
import { profileCommand } from './operator/profile.ts'
import { serve } from './serve.ts'

export function command(): Command {
  return withConfig(new Command())
    .addCommand(profileCommand())
    .addHelpText(
      'after',
      '\nRuns until SIGTERM or Ctrl-C. docs/settings.md describes all settings.\n\nExamples:\n  bellwire operator\n  bellwire operator profile\n  BELLWIRE_OPERATOR_PORT=8080 bellwire operator --config /etc/bellwire.yaml\n',
    )
    .action(async ({ config: file }: { config?: string }) => {
      const reloads = watchReloads()
      const read = await readConfig(file)
      const { operator } = read.config
      if (!operator) throw noSection('operator', file)
      await serve(describeOperator(operator), operator, read, file, reloads, async ({ config }, { configuration }) => {
        const { operator: section } = config
        if (!section) throw noSection('operator', file)
        const [{ createOperator }, { operatorOptions }] = await Promise.all([
          import('../../sides/operator/create-operator.ts'),
          import('../../sides/config/compose/compose.ts'),
        ])
        const service = createOperator({ ...(await operatorOptions(section)), configuration })
        return {
          service,
          async checkStore({ config: { operator: next } }) {
            if (next) service.demandFreeNames(next)
            return undefined
          },
          async change({ config: { operator: next } }) {
            if (next) service.replaceKeys(next)
            return true
          },
        }
      })
    })
}
