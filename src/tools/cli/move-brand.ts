// `bellwire platform move-brand`: moves a brand from one store to another. The processes keep running.

import { Command } from 'commander'
import { phraseCount } from '../../base/runtime/phrase-count.ts'
import { loadConfig } from '../../sides/config/load.ts'
import type { PlatformConfig } from '../../sides/config/table.ts'
import { auditOps } from '../../subjects/audit/table.ts'
import type { BrandMover, MovePhase } from '../../subjects/brands/move/move-brand.ts'
import type { MoveOptions } from '../../subjects/brands/move/move-stores.ts'
import { withConfig } from './config-option.ts'
import { confirm } from './confirm.ts'
import { CliError, exit } from './exit.ts'
import { interruptible } from './interruptible.ts'
import { noSection } from './no-section.ts'
import { brandNumber, wholeNumber } from './numbers.ts'
import { toJson } from './output.ts'
import { storeError } from './store-error.ts'
import { number, textTable } from './text-table.ts'

interface MoveBrandOptions {
  readonly to?: number
  readonly abort?: true
  readonly preview?: true
  readonly yes?: true
  readonly json?: true
}

export function moveBrandCommand(): Command {
  return withConfig(new Command('move-brand').description('move a brand from one store to another'))
    .argument('<brand>', 'the number of the brand', brandNumber)
    .option('--to <number>', 'the number of the store; 0: the database `store`', wholeNumber(0, 99))
    .option('--preview', 'only count the rows')
    .option('--yes', 'do not ask for confirmation')
    .option('--abort', 'end an interrupted move, and leave the brand in its store')
    .option('--json', 'print one JSON object')
    .addHelpText('after', help)
    .action(async (brand: string, options: MoveBrandOptions, command: Command) => {
      // The option --config may be written before or after `move-brand`.
      const { config: file } = command.optsWithGlobals<{ config?: string }>()
      const { platform } = await loadConfig(file)
      if (!platform) throw noSection('platform', file)
      const settings = await moveOptions(platform)
      const { to, abort } = options
      if (abort) return abortMove(settings, brand, options)
      if (to === undefined) throw new CliError(exit.usage, 'add --to NUMBER: the number of a store, or 0')
      await moveBrand(settings, { brand, to }, options)
    })
}

/** Time for the commit of a settle, and for a clock of the operator that differs from that of the command. */
const marginMs = 10_000

async function moveOptions(platform: PlatformConfig): Promise<MoveOptions> {
  const [{ platformStores }, { ownDeliveryLimits }] = await Promise.all([
    import('../../sides/platform/stores.ts'),
    import('../../sides/platform/options.ts'),
  ])
  const { answerBudgetMs: answer, providerTimeoutMs } = ownDeliveryLimits
  const provider = platform.own?.limits.providerTimeoutMs ?? providerTimeoutMs
  return { stores: platformStores(platform), attemptMs: answer + provider + marginMs }
}

const help = `
Copies all rows of the brand to another database of platform.stores: messages, Failed Actions, devices, attributes, runs of
reconciliation. All other brands are served meanwhile. Calls in flight are ended first. From then on, until the platform processes
have the new settings, records and device links of the brand are answered 503, and its messages wait.

Afterwards change the store of the brand in platform.stores, and restart the platform processes one after the other. An interrupted
command has moved everything or nothing: repeat it. docs/scaling.md has the details.

Exit codes: 0 moved, 1 not moved, 2 wrong usage, 3 a store cannot be reached.

Examples:
  bellwire platform move-brand 12 --to 2 --preview
  bellwire platform move-brand 12 --to 2 --yes
  bellwire platform move-brand 12 --abort
`

async function abortMove(options: MoveOptions, brand: string, { json }: MoveBrandOptions): Promise<void> {
  const move = await import('../../subjects/brands/move/move-brand.ts')
  await move.abortMove(options, brand, entryOf(brand, { aborted: true })).catch(rethrow)
  console.log(json ? toJson({ aborted: true }) : `Brand ${brand} stays in its store, and is served again.`)
}

const entryOf = (brand: string, given: Readonly<Record<string, unknown>>) =>
  auditOps([{ act: 'move-brand', by: 'bellwire platform move-brand', brand, given }])

async function moveBrand(
  options: MoveOptions,
  { brand, to }: { readonly brand: string; readonly to: number },
  { preview, yes, json }: MoveBrandOptions,
): Promise<void> {
  const { openBrandMover } = await import('../../subjects/brands/move/move-brand.ts')
  const mover = await openBrandMover(options, brand, to).catch(rethrow)
  try {
    const { source, step } = mover
    const moves = `from store ${source} to store ${to}`
    const tables = await mover.count().catch(rethrow)
    const rows = tables.reduce((sum, each) => sum + each.rows, 0)
    if (!json || preview) console.log(json ? toJson({ source, to, step, rows, tables }) : phraseRows(tables))
    if (preview) return
    const question =
      step === 'move'
        ? `Move ${phraseCount(rows, 'row')} of brand ${brand} ${moves}?`
        : `Brand ${brand} has moved ${moves}. Delete its ${phraseCount(rows, 'old row')}?`
    if (!yes) await confirm(question)
    const deleted = await interruptible('interrupted: repeat the command, or give --abort', (signal) =>
      mover.move((phase) => !json && console.error(phrasePhase(phase)), signal),
    ).catch(rethrow)
    await mover.record(entryOf(brand, { source, to }))
    if (json) return console.log(toJson({ source, to, rows, deleted }))
    console.log(`Brand ${brand} has moved ${moves}. ${phraseSettings(brand, to)}`)
  } finally {
    await mover.close()
  }
}

function phraseRows(tables: Awaited<ReturnType<BrandMover['count']>>): string {
  if (tables.every(({ rows }) => rows === 0)) return 'The brand has no rows.'
  const columns = [{ title: 'TABLE' }, { title: 'ROWS', align: 'right' as const }]
  return textTable(
    columns,
    tables.filter(({ rows }) => rows > 0).map(({ table, rows }) => [table, number(rows)]),
  )
}

function phrasePhase(phase: MovePhase): string {
  if (phase === 'draining') return 'Waiting for the calls in flight'
  if (phase === 'freezing') return 'Refusing new records of the brand'
  if (phase === 'deleting') return 'Copied. Deleting the old rows'
  return `Copying ${phase.slice('copying '.length)}`
}

const phraseSettings = (brand: string, to: number): string =>
  `Now ${to === 0 ? `remove ${brand} from the brands of its store` : `list ${brand} in the brands of store ${to}`} in platform.stores, and restart the platform processes one after the other.`

function rethrow(error: unknown): never {
  if (error instanceof CliError) throw error
  if ((error as { name?: unknown }).name === 'MoveRefused') throw new CliError(exit.usage, (error as Error).message)
  const { message, exitCode } = storeError(error, 'platform')
  throw new CliError(exitCode === exit.unreachable ? exitCode : exit.failed, message)
}
