import { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import { withConfig } from './config-option.ts'
import { CliError, exit } from './exit.ts'
import { storeError } from './store-error.ts'

const stores = {
  operator: async (url: string) => [
    { url, migrations: (await import('../operator/create-operator.ts')).operatorMigrations },
  ],
  platform: async (url: string) => (await import('../platform/create-platform.ts')).platformStores(url),
}

export function migrateCommand(): Command {
  return withConfig(new Command())
    .option('--json', 'print what was applied as one JSON object')
    .addHelpText('after', help)
    .action(async ({ config: file, json }: { config?: string; json?: true }) => {
      const config = await loadConfig(file)
      const { migrateDatabase } = await import('../store/open-database.ts')
      const applied: Record<string, readonly string[]> = {}
      for (const side of ['operator', 'platform'] as const) {
        const store = config[side]?.store
        if (store === undefined) continue
        const done: string[] = []
        for (const { url, migrations } of await stores[side](store)) {
          const names = await migrateDatabase(url, migrations).catch((error: unknown) => {
            throw storeError(error, side)
          })
          done.push(...names)
        }
        applied[side] = done
        if (!json) console.log(`${side}: ${done.length > 0 ? `applied ${done.join(', ')}` : 'up to date'}`)
      }
      if (Object.keys(applied).length === 0)
        throw new CliError(exit.usage, 'the configuration has no section operator or platform')
      if (json) console.log(JSON.stringify(applied))
    })
}

const help = `
Applies the pending migrations to the store of each side in the configuration. The sides do the same when they start, so this is for
those who want it done before. A SQLite store must not be in use.

Examples:
  bellwire migrate --config bellwire.yaml
`
