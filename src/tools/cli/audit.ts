// A client of /admin/audit of both sides: lists, exports and verifies the audit trail. The digests of an exported file are computed here.

import { Command, Option } from 'commander'
import type { Static } from 'typebox'
import type { AnswerOf, SideName } from '../../sides/admin/calls.ts'
import { AuditQuery } from '../../sides/admin/requests.ts'
import { type CheckedChains, createChainCheck } from '../../subjects/audit/chain.ts'
import type { Client } from './client.ts'
import { downloadTo } from './download-to.ts'
import { CliError, type ExitCode, exit, exitWith } from './exit.ts'
import { inputFile } from './input-file.ts'
import { membersOf, withMembers } from './members.ts'
import { wholeNumber } from './numbers.ts'
import { print } from './output.ts'
import { type Addressed, calledSides, type Side, withAddress, withSide } from './running-side.ts'
import { chunks } from './send/chunks.ts'
import { linesOf } from './send/records.ts'
import { number, textTable } from './text-table.ts'

const scope = 'audit'
const exportRoute = 'GET /admin/audit.ndjson'

export function command(): Command {
  return new Command()
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(exportCommand())
    .addCommand(verifyCommand())
    .addHelpText('after', help)
}

const help = `
Without --url, the commands call each side of the configuration. With --url, they call that operator or platform.

Examples:
  bellwire audit list --brand 1 --user 1001
  bellwire audit export --out audit.ndjson
  bellwire audit verify --expect 5f0c…
`

const flags = {
  act: '--act <act>',
  by: '--by <name>',
  brand: '--brand <number>',
  user: '--user <id>',
  since: '--since <time>',
  until: '--until <time>',
}

type ListOptions = Addressed & Static<typeof AuditQuery> & { readonly limit: number }
type Listed = AnswerOf<SideName, 'GET /admin/audit'>['entries'][number]

function listCommand(): Command {
  return withMembers(withAddress(new Command('list'), 'server', [scope]), AuditQuery, flags)
    .description('list the entries of the audit trail, the newest first (the default)')
    .addOption(
      new Option('--limit <number>', 'the most entries of each side').argParser(wholeNumber(1, 1_000)).default(100),
    )
    .option('--json', 'print each answer as one JSON object per line')
    .action(async ({ limit, ...options }: ListOptions) => {
      const query = { ...membersOf(options, flags), limit }
      await onEachSide(options, async (client, side) => {
        const answer = await client.call('GET /admin/audit', { query })
        print(
          options,
          { side, ...answer },
          () => `${side === 'server' ? '' : `${side}\n`}${phraseEntries(answer.entries)}`,
        )
      })
    })
}

export function phraseEntries(entries: readonly Listed[]): string {
  const columns = ['STORE', 'SERIAL', 'AT', 'ACT', 'BY', 'ADDRESS', 'BRAND', 'USER', 'COUNT', 'DETAILS']
  if (entries.length === 0) return 'No entry matches.'
  return textTable(
    columns.map((title) => ({ title, most: title === 'DETAILS' ? 80 : 40 })),
    entries.map(({ store, serial, at, act, by, address, brand, user, user_digest: digest, count, ...rest }) => {
      const { digest: _, user_salt: _salt, ...details } = rest
      const who = user ?? (digest === undefined ? '' : `sha256:${digest.slice(0, 12)}`)
      const said = Object.keys(details).length > 0 ? JSON.stringify(details) : ''
      return [store, String(serial), at, act, by, address ?? '', brand ?? '', who, String(count ?? ''), said]
    }),
  )
}

function exportCommand(): Command {
  return withAddress(new Command('export'), 'server', [scope])
    .description('write all entries as NDJSON, each with its digest')
    .option('-o, --out <file>', 'the file; default: standard output')
    .action(async ({ out, ...options }: Addressed & { readonly out?: string }) => {
      const sides = await calledSides(options)
      if (sides.length > 1) throw new CliError(exit.usage, 'the configuration has two sides: give --url and a key')
      await downloadTo(out, (write) => onEachSide(options, (client) => client.download(exportRoute, {}, write)))
    })
}

interface VerifyOptions extends Addressed {
  readonly file?: string
  readonly expect?: readonly string[]
}

const verifyHelp = `
It finds an entry that was changed, removed or inserted. Each side computes the digests of its own entries. To verify them without
the side, export them and give --file, also on another machine. The chain alone does not show that entries are missing at its end, or that
somebody with access to the database replaced all entries from one on. So keep the last digest that this command prints, outside of the
database, and give it to the next verification with --expect.

Exit codes: 0 the chains are intact, 1 they are not, 2 wrong usage, 3 a side cannot be reached.
`

function verifyCommand(): Command {
  return withAddress(new Command('verify'), 'server', [scope])
    .description('verify the chain of digests of all entries')
    .option('--file <file>', 'verify this export without a side; - reads standard input')
    .option('--expect <digest...>', 'a digest of an earlier verification or export, which must still be in a chain')
    .option('--json', 'print the result as one JSON object')
    .addHelpText('after', verifyHelp)
    .action(exitWith(verify))
}

async function verify(options: VerifyOptions): Promise<ExitCode> {
  const { file, expect = [] } = options
  for (const digest of expect)
    if (!/^[0-9a-f]{64}$/.test(digest)) throw new CliError(exit.usage, `--expect ${digest} is not a SHA-256 digest`)
  const result = file === undefined ? await verifySides(options, expect) : await verifyFile(file, expect)
  print(options, result, phraseResult)
  return isIntact(result) ? exit.ok : exit.failed
}

const isIntact = ({ problems, missing }: CheckedChains): boolean => problems.length + missing.length === 0

async function verifyFile(file: string, expect: readonly string[]): Promise<CheckedChains> {
  const check = createChainCheck(expect)
  for await (const chunk of chunks((await inputFile(file)).read()))
    for (const { text } of linesOf(chunk)) check.add(text)
  return check.end()
}

/** A digest is missing if no side has it. */
async function verifySides(options: Addressed, expect: readonly string[]): Promise<CheckedChains> {
  const chains: CheckedChains['chains'][number][] = []
  const problems: CheckedChains['problems'][number][] = []
  let missing = expect
  const query = expect.length > 0 ? { expect: expect.join() } : {}
  await onEachSide(options, async (client, side) => {
    const ofSide = <Part extends { readonly store: string }>(part: Part): Part =>
      side === 'server' ? part : { ...part, store: `${side} ${part.store}` }
    const answer = await client.call('GET /admin/audit/verify', { query })
    chains.push(...answer.chains.map(ofSide))
    problems.push(...answer.problems.map(ofSide))
    missing = missing.filter((digest) => answer.missing.includes(digest))
  })
  return { chains, problems, missing }
}

function phraseResult({ chains, problems, missing }: CheckedChains): string {
  if (chains.length === 0) return 'There is no entry.'
  return [
    ...chains.map(
      ({ store, entries, first, last, digest }) =>
        `store ${store}: ${number(entries)} ${entries === 1 ? 'entry' : 'entries'}, ${number(first)} to ${number(last)}, last digest ${digest}`,
    ),
    ...problems.map(
      ({ store, serial, problem }) =>
        `NOT INTACT, store ${store}${serial === undefined ? '' : `, entry ${serial}`}: ${problem}`,
    ),
    ...missing.map(
      (digest) => `NOT INTACT: no entry has the expected digest ${digest}: entries at the end were removed or changed`,
    ),
    ...(problems.length + missing.length === 0 ? ['Intact. Keep the last digests for --expect.'] : []),
  ].join('\n')
}

async function onEachSide(options: Addressed, work: (client: Client, side: Side) => Promise<void>): Promise<void> {
  for (const side of await calledSides(options))
    await withSide(side, options, [scope], (client) => work(client as Client, side))
}
