// The commands that a report names: they export, correct and acknowledge a run of a reconciliation.

import { Command, Option } from 'commander'
import type { Static } from 'typebox'
import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { AnswerOf, RequestOf } from '../../../sides/admin/calls.ts'
import { ReasonBody } from '../../../sides/admin/requests.ts'
import { confirm } from '../confirm.ts'
import { downloadTo } from '../download-to.ts'
import { reasonFlags } from '../lanes/target.ts'
import { membersOf, withMembers } from '../members.ts'
import { print, toJson } from '../output.ts'
import { type Addressed, callSide, withAddress, withAnswer, withSide } from '../running-side.ts'

type ExportOptions = Addressed & { readonly out?: string; readonly format: 'csv' | 'ndjson' }

export function exportCommand(): Command {
  return withRun(withAddress(new Command('export'), 'platform', ['read']))
    .description('write all discrepancies of a run')
    .addOption(new Option('--format <format>', 'the format').choices(['csv', 'ndjson']).default('csv'))
    .option('-o, --out <file>', 'the file; default: standard output')
    .action((run: string, { out, format, ...options }: ExportOptions) =>
      withSide('platform', options, ['read'], (client) => {
        const request = { params: { run }, query: { format } }
        return downloadTo(out, (write) => client.download('GET /admin/reconciliations/:run/export', request, write))
      }),
    )
}

interface CorrectOptions extends Addressed {
  readonly loosen?: true
  readonly preview?: true
  readonly yes?: true
  readonly reason?: string
}

export function correctCommand(): Command {
  return withRun(withAnswer(new Command('correct'), 'platform', 'decide'))
    .description("set the CRM's values to the operator's: block, exclude, deactivate, withdraw consent")
    .option('--loosen', 'the opposite: unblock, include, activate, give consent')
    .option('--reason <text>', 'why; required to end blocked or excluded, with the scope lift')
    .option('--preview', 'only count the users')
    .option('--yes', 'do not ask for confirmation')
    .action((run: string, options: CorrectOptions) =>
      withSide('platform', options, ['decide'], async (client) => {
        const what = options.loosen ? 'loosen' : 'tighten'
        const correct = (more: RequestOf<'platform', typeof correctRoute>['body']) =>
          client.call(correctRoute, { params: { run }, body: { what, ...more } })
        const previewed = (await correct({ preview: true })) as Preview
        if (!options.json || options.preview) print(options, previewed, phrasePreview)
        const { count } = previewed
        if (options.preview || count === 0) return
        if (!options.yes) await confirm(`Change ${phraseCount(count, 'user')}?`)
        const done = (await correct({
          confirm: count,
          ...(options.reason !== undefined && { reason: options.reason }),
        })) as Exclude<Correction, Preview>
        print(options, done, ({ applied, skipped }) => `Changed ${phraseCount(applied, 'user')}, skipped ${skipped}.`)
      }),
    )
}

const correctRoute = 'POST /admin/reconciliations/:run/correct'
type Correction = AnswerOf<'platform', typeof correctRoute>
type Preview = Extract<Correction, { readonly count: number }>

export function acknowledgeCommand(): Command {
  return withRun(withMembers(withAnswer(new Command('acknowledge'), 'platform', 'decide'), ReasonBody, reasonFlags))
    .description('acknowledge the result of a run')
    .action(async (run: string, options: Addressed & Static<typeof ReasonBody>) => {
      const request = { params: { run }, body: membersOf(options, reasonFlags) }
      const answer = await callSide(
        'platform',
        options,
        'decide',
        'POST /admin/reconciliations/:run/acknowledge',
        request,
      )
      print(options, answer, ({ acknowledged }) => `Run ${run} is acknowledged by ${acknowledged?.by}.`)
    })
}

const withRun = (command: Command): Command => command.argument('<run>', 'the name of the run, from its report')

function phrasePreview({ count, sets, sample }: Preview): string {
  const users = sample.map((user) => toJson(user)).join(', ')
  return `Sets ${sets} for ${phraseCount(count, 'user')} in the CRM${count > 0 ? `: ${users}${count > sample.length ? ', …' : ''}` : ''}`
}
