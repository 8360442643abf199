// A client of /admin/permission of both sides: the proof that each user might get each message.

import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import type { Static } from 'typebox'
import { phraseCount } from '../../base/runtime/phrase-count.ts'
import type { AnswerOf, SideName } from '../../sides/admin/calls.ts'
import { PermissionCheck, PermissionExport } from '../../sides/admin/requests.ts'
import { downloadTo } from './download-to.ts'
import { type ExitCode, exit, exitWith, refuseWith } from './exit.ts'
import { phraseTime } from './lanes/show-lanes.ts'
import { membersOf, withMembers } from './members.ts'
import { print } from './output.ts'
import { type Addressed, calledSides, callSide, withAddress, withSide } from './running-side.ts'
import { textTable } from './text-table.ts'

export function command(): Command {
  return new Command().addCommand(exportCommand()).addCommand(checkCommand()).addHelpText('after', help)
}

const help = `
Without --url, the commands call the operator of the configuration, or else its platform. docs/people.md describes the proof.

Examples:
  bellwire permission export --brand 1 --from 2026-01-01 --to 2026-02-01 --out permission.csv
  bellwire permission check --brand 1 --exclusions exclusions.csv
  bellwire permission check --brand 1 --exclusions source
`

const exportFlags = { brand: '--brand <number>', from: '--from <time>', to: '--to <time>' }

type ExportOptions = Addressed & Static<typeof PermissionExport> & { readonly out?: string }

function exportCommand(): Command {
  return withMembers(withAddress(new Command('export'), 'server', ['read']), PermissionExport, exportFlags)
    .description('write the messages of a brand with the check of each as CSV, without texts')
    .option('-o, --out <file>', 'the file; default: standard output')
    .action(async ({ out, ...options }: ExportOptions) => {
      const query = membersOf(options, exportFlags)
      const [side] = await calledSides(options)
      await withSide(side, options, ['read'], (client) =>
        downloadTo(out, (write) => client.download('GET /admin/permission.csv', { query }, write)),
      )
    })
}

const checkFlags = { brand: '--brand <number>' }

type CheckOptions = Addressed & Static<typeof PermissionCheck> & { readonly exclusions: string }

function checkCommand(): Command {
  return withMembers(withAddress(new Command('check'), 'server', ['read'], '2min'), PermissionCheck, checkFlags)
    .description('find the messages that users got after the time of their exclusion')
    .requiredOption(
      '--exclusions <list>',
      'CSV with user_id, excluded_at, and readmitted_at for a user who was readmitted; source: the users whom the attribute source of the side excludes now',
    )
    .option('--json', 'print the answer as one JSON object')
    .addHelpText('after', checkHelp)
    .action(exitWith(check))
}

const checkHelp = `
A message is unclear if it was under way at the time of the exclusion or of the readmission, or if it is unknown whether it arrived.

Exit codes: 0 nobody got a message after the exclusion, 1 somebody did, 2 wrong usage, 3 the side cannot be reached.
`

type LateMessages = AnswerOf<SideName, 'POST /admin/permission/check'>

async function check({ exclusions: file, ...options }: CheckOptions): Promise<ExitCode> {
  const query = membersOf(options, checkFlags)
  const [side] = await calledSides(options)
  const answer =
    file === 'source'
      ? await callSide(side, options, 'read', 'GET /admin/permission/check', { query })
      : await callSide(side, options, 'read', 'POST /admin/permission/check', {
          query,
          body: await readFile(file).catch(refuseWith('--exclusions cannot be read')),
          type: 'text/csv',
        })
  print(options, answer, phraseLate)
  return answer.certain > 0 ? exit.failed : exit.ok
}

/** Shows the messages that were sent after an exclusion. */
export function phraseLate({ users, messages, certain, unclear, longest_ms: longest, found }: LateMessages): string {
  const late =
    certain === 0
      ? 'Nobody got a message after the exclusion.'
      : `After the exclusion: ${phraseCount(certain, 'message')}, the latest ${phraseTime(longest)} after it.`
  const lines = [
    `Checked ${phraseCount(messages, 'message')} against the exclusions of ${phraseCount(users, 'user')}.`,
    late,
    ...(unclear > 0 ? [`Unclear: ${phraseCount(unclear, 'message')}.`] : []),
  ]
  if (found.length === 0) return lines.join('\n')
  const rows = found.map(({ user_id: user, ref, excluded_at: from, sent_at: at, certain: isCertain }) => {
    const after = phraseTime(Date.parse(at) - Date.parse(from))
    return [user, ref, from, at, after, isCertain ? '' : 'unclear']
  })
  return [...lines, textTable(lateColumns, rows)].join('\n')
}

const lateColumns = ['USER', 'IDENTIFIER', 'EXCLUDED AT', 'SENT AT', 'AFTER', ''].map((title) => ({ title }))
