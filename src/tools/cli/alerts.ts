import { Command } from 'commander'
import { messageOf } from '../../base/runtime/message-of.ts'
import { alertSenders } from '../../sides/config/compose/alerts.ts'
import { loadConfig } from '../../sides/config/load.ts'
import type { AlertSender, Notice } from '../../subjects/alerts/alerts.ts'
import { withConfig } from './config-option.ts'
import { CliError, exit } from './exit.ts'

export function command(): Command {
  return new Command().addCommand(testCommand()).addHelpText('after', examples)
}

const examples = '\nExamples:\n  bellwire alerts test\n  bellwire alerts test --config platform.yaml\n'

const testCommand = (): Command =>
  withConfig(new Command('test'))
    .description('send a test alert to each receiver of the configuration')
    .addHelpText('after', examples)
    .action(async ({ config: file }: { readonly config?: string }) => {
      const config = await loadConfig(file)
      const results = await Promise.all(
        (['operator', 'platform'] as const).map(async (side) => {
          const alerts = config[side]?.alerts
          return alerts ? testAll(await alertSenders(alerts, side), side) : []
        }),
      )
      if (results.flat().length === 0)
        throw new CliError(exit.usage, 'no alerts are configured: add operator.alerts or platform.alerts')
      process.exitCode = results.flat().every(Boolean) ? exit.ok : exit.failed
    })

const withinMs = 10_000

async function testAll(senders: readonly AlertSender[], side: string): Promise<readonly boolean[]> {
  const notice: Notice = {
    name: 'this is a test',
    says: 'Somebody ran bellwire alerts test.',
    remedy: 'Nothing is to be done.',
    since: Date.now(),
    urgent: true,
  }
  return Promise.all(
    senders.map(async (sender) => {
      try {
        await sender.send([notice], withinMs)
        console.log(`✓ ${side}.alerts: ${sender.name} accepted the test`)
        return true
      } catch (error) {
        console.log(`✗ ${side}.alerts: ${sender.name}: ${messageOf(error)}`)
        return false
      } finally {
        await sender.close()
      }
    }),
  )
}
