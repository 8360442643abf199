// `bellwire operator move-brand` and `bellwire platform move-brand`: move a brand from one store to another. The processes keep running.

import { Command, InvalidArgumentError, Option } from 'commander'
import type { Side } from '../brands/configured-stores.ts'
import type { BrandMover, MovePhase } from '../brands/move/move-brand.ts'
import type { MoveOptions } from '../brands/move/move-stores.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/table.ts'
import { brandForm } from '../runtime/forms.ts'
import { withConfig } from './config-option.ts'
import { confirm } from './confirm.ts'
import { CliError, exit } from './exit.ts'
import { number } from './failed/groups.ts'
import { textTable } from './failed/text-table.ts'
import { interruptible } from './interruptible.ts'
import { noSection } from './no-section.ts'
import { storeError } from './store-error.ts'

interface MoveBrandOptions {
  readonly to?: number
  readonly abort?: true
  readonly preview?: true
  readonly yes?: true
  readonly json?: true
}

export function moveBrandCommand(side: Side): Command {
  return withConfig(new Command('move-brand').description('move a brand from one store to another'))
    .argument('<brand>', 'the number of the brand', readBrand)
    .addOption(new Option('--to <number>', 'the number of the store; 0: the database `store`').argParser(readNumber))
    .option('--preview', 'only count the rows')
    .option('--yes', 'do not ask for confirmation')
    .option('--abort', 'end an interrupted move, and leave the brand in its store')
    .option('--json', 'print one JSON object')
    .addHelpText('after', helpOf(side))
    .action(async (brand: string, options: MoveBrandOptions, command: Command) => {
      // The option --config may be written before or after `move-brand`.
      const { config: file } = command.optsWithGlobals<{ config?: string }>()
      const settings = await moveOptions[side](await loadConfig(file))
      if (!settings) throw noSection(side, file)
      const { to, abort } = options
      if (abort) return abortMove(settings, brand, options)
      if (to === undefined) throw new CliError(exit.usage, 'add --to NUMBER: the number of a store, or 0')
      await moveBrand(settings, { brand, to }, options)
    })
}

/** Time for the commit of a settle, and for a clock of the operator that differs from that of the command. */
const marginMs = 10_000

const moveOptions = {
  async operator({ operator }: Config): Promise<MoveOptions | undefined> {
    if (!operator) return undefined
    const { operatorStores } = await import('../operator/stores.ts')
    const { answer_budget: answer, provider_timeout: provider } = operator.limits
    return { side: 'operator', stores: operatorStores(operator), attemptMs: answer + provider + marginMs }
  },
  async platform({ platform }: Config): Promise<MoveOptions | undefined> {
    if (!platform) return undefined
    const [{ platformStores }, { ownDeliveryLimits }] = await Promise.all([
      import('../platform/stores.ts'),
      import('../platform/options.ts'),
    ])
    const { answerBudgetMs: answer, providerTimeoutMs } = ownDeliveryLimits
    const provider = platform.own?.limits.provider_timeout ?? providerTimeoutMs
    return { side: 'platform', stores: platformStores(platform), attemptMs: answer + provider + marginMs }
  },
} satisfies Record<Side, unknown>

const contents = {
  operator:
    'messages with their requests and calls, delivery statuses, devices, the inbox, and events that are not published yet',
  platform: 'messages, Failed Actions, devices, attributes, runs of reconciliation',
}
const refused = {
  operator: 'its messages are fatal, so the platform sends them again later, and its other requests are answered 503.',
  platform: 'records and device links of the brand are answered 503, and its messages wait.',
}

const helpOf = (side: Side): string => `
Copies all rows of the brand to another database of ${side}.stores: ${contents[side]}. All
other brands are served meanwhile. Calls in flight are ended first. From then on, until the ${side} processes have the new settings,
${refused[side]}

Afterwards change the store of the brand in ${side}.stores, and restart the ${side} processes one after the other. An interrupted command has moved
everything or nothing: repeat it. docs/scaling.md has the details.

Exit codes: 0 moved, 1 not moved, 2 wrong usage, 3 a store cannot be reached.

Examples:
  bellwire ${side} move-brand 12 --to 2 --preview
  bellwire ${side} move-brand 12 --to 2 --yes
  bellwire ${side} move-brand 12 --abort
`

async function abortMove(options: MoveOptions, brand: string, { json }: MoveBrandOptions): Promise<void> {
  const move = await import('../brands/move/move-brand.ts')
  await move.abortMove(options, brand).catch(rethrow(options.side))
  console.log(json ? JSON.stringify({ aborted: true }) : `Brand ${brand} stays in its store, and is served again.`)
}

async function moveBrand(
  options: MoveOptions,
  { brand, to }: { readonly brand: string; readonly to: number },
  { preview, yes, json }: MoveBrandOptions,
): Promise<void> {
  const { openBrandMover } = await import('../brands/move/move-brand.ts')
  const { side } = options
  const mover = await openBrandMover(options, brand, to).catch(rethrow(side))
  try {
    const { source, step } = mover
    const moves = `from store ${source} to store ${to}`
    const tables = await mover.count().catch(rethrow(side))
    const rows = tables.reduce((sum, each) => sum + each.rows, 0)
    if (!json || preview) console.log(json ? JSON.stringify({ source, to, step, rows, tables }) : phraseRows(tables))
    if (preview) return
    const question =
      step === 'move'
        ? `Move ${number(rows)} rows of brand ${brand} ${moves}?`
        : `Brand ${brand} has moved ${moves}. Delete its ${number(rows)} old rows?`
    if (!yes) await confirm(question)
    const deleted = await interruptible('interrupted: repeat the command, or give --abort', (signal) =>
      mover.move((phase) => !json && console.error(phrasePhase(phase)), signal),
    ).catch(rethrow(side))
    if (json) return console.log(JSON.stringify({ source, to, rows, deleted }))
    console.log(`Brand ${brand} has moved ${moves}. ${phraseSettings(side, brand, to)}`)
  } finally {
    await mover.close()
  }
}

function phraseRows(tables: Awaited<ReturnType<BrandMover['count']>>): string {
  const columns = [{ title: 'TABLE' }, { title: 'ROWS', align: 'right' as const }]
  return textTable(
    columns,
    tables.map(({ table, rows }) => [table, number(rows)]),
  )
}

function phrasePhase(phase: MovePhase): string {
  if (phase === 'draining') return 'Waiting for the calls in flight'
  if (phase === 'freezing') return 'Refusing new records of the brand'
  if (phase === 'deleting') return 'Copied. Deleting the old rows'
  return `Copying ${phase.slice('copying '.length)}`
}

const phraseSettings = (side: Side, brand: string, to: number): string =>
  `Now ${to === 0 ? `remove ${brand} from the brands of its store` : `list ${brand} in the brands of store ${to}`} in ${side}.stores, and restart the ${side} processes one after the other.`

const rethrow =
  (side: Side) =>
  (error: unknown): never => {
    if (error instanceof CliError) throw error
    if ((error as { name?: unknown }).name === 'MoveRefused') throw new CliError(exit.usage, (error as Error).message)
    const { message, exitCode } = storeError(error, side)
    throw new CliError(exitCode === exit.unreachable ? exitCode : exit.failed, message)
  }

function readBrand(text: string): string {
  if (!brandForm.fits(text)) throw new InvalidArgumentError('Give the number of a brand.')
  return text
}

function readNumber(text: string): number {
  if (!/^\d{1,2}$/.test(text)) throw new InvalidArgumentError('Give a number from 0 to 99.')
  return Number(text)
}
