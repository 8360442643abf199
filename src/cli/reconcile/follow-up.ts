// The commands that a report names: they export, correct and acknowledge a run of a reconciliation.

import { Command, Option } from 'commander'
import type { ShownRun } from '../../admin/shown/run.ts'
import { phraseCount } from '../../runtime/phrase-count.ts'
import { confirm } from '../confirm.ts'
import { downloadTo } from '../download-to.ts'
import { type LaneCommandOptions, withPlatform, withPlatformClient } from '../lanes/platform-client.ts'
import { toJson } from '../output.ts'

export function exportCommand(): Command {
  return withRun(withPlatform(new Command('export'), 'read'))
    .description('write all discrepancies of a run')
    .addOption(new Option('--format <format>', 'the format').choices(['csv', 'ndjson']).default('csv'))
    .option('-o, --out <file>', 'the file; default: standard output')
    .action((run: string, { out, format, ...options }: LaneCommandOptions & { out?: string; format: string }) =>
      withPlatformClient(options, 'read', (client) =>
        downloadTo(out, client, `${pathOf(run)}/export?format=${format}`),
      ),
    )
}

interface CorrectOptions extends LaneCommandOptions {
  readonly loosen?: true
  readonly preview?: true
  readonly yes?: true
}

export function correctCommand(): Command {
  return withRun(withPlatform(new Command('correct'), 'manage'))
    .description("set the CRM's values to the operator's: block, exclude, deactivate, withdraw consent")
    .option('--loosen', 'the opposite: unblock, include, activate, give consent')
    .option('--preview', 'only count the users')
    .option('--yes', 'do not ask for confirmation')
    .action((run: string, options: CorrectOptions) =>
      withPlatformClient(options, 'manage', async (client) => {
        const path = `${pathOf(run)}/correct`
        const post = async <T>(body: object) => (await client.post(path, JSON.stringify(body))).answer as T
        const what = options.loosen ? 'loosen' : 'tighten'
        const previewed = await post<Preview>({ what, preview: true })
        if (!options.json || options.preview) console.log(options.json ? toJson(previewed) : phrasePreview(previewed))
        const { count } = previewed
        if (options.preview || count === 0) return
        if (!options.yes) await confirm(`Change ${phraseCount(count, 'user')}?`)
        const done = await post<{ readonly applied: number; readonly skipped: number }>({ what, confirm: count })
        console.log(
          options.json ? toJson(done) : `Changed ${phraseCount(done.applied, 'user')}, skipped ${done.skipped}.`,
        )
      }),
    )
}

export function acknowledgeCommand(): Command {
  return withRun(withPlatform(new Command('acknowledge'), 'manage'))
    .description('acknowledge the result of a run')
    .action((run: string, options: LaneCommandOptions) =>
      withPlatformClient(options, 'manage', async (client) => {
        const { answer } = await client.post(`${pathOf(run)}/acknowledge`, '')
        const { acknowledged } = answer as ShownRun
        console.log(options.json ? toJson(answer) : `Run ${run} is acknowledged by ${acknowledged?.by}.`)
      }),
    )
}

const withRun = (command: Command): Command => command.argument('<run>', 'the name of the run, from its report')

const pathOf = (run: string): string => `/admin/reconciliations/${encodeURIComponent(run)}`

interface Preview {
  readonly count: number
  readonly sets: string
  readonly sample: readonly string[]
}

function phrasePreview({ count, sets, sample }: Preview): string {
  const users = sample.map((user) => toJson(user)).join(', ')
  return `Sets ${sets} for ${phraseCount(count, 'user')} in the CRM${count > 0 ? `: ${users}${count > sample.length ? ', …' : ''}` : ''}`
}
