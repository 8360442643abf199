import { Command, CommanderError } from 'commander'
import { version } from '../../base/runtime/version.ts'
import { ConfigError } from '../../sides/config/problem.ts'
import { stopOnClosedOutput } from './closed-output.ts'
import { CliError, exit } from './exit.ts'

// Only the requested command is loaded, so that `bellwire send` does not load a database driver.
const commands: readonly [name: string, help: string, load: () => Promise<{ command(): Command }>][] = [
  ['demo', 'run both sides locally, with sample traffic and a web page', () => import('./demo.ts')],
  ['init', 'write a configuration with fresh keys', () => import('./init.ts')],
  ['operator', 'run the API that an operator hosts', () => import('./operator.ts')],
  ['platform', 'run the engine that calls operators', () => import('./platform.ts')],
  [
    'check',
    'check whether an operator or a platform follows the interface, in any language',
    () => import('./check.ts'),
  ],
  [
    'fake',
    'run an operator or a platform in memory, with faults on request, to develop the other side',
    () => import('./fake.ts'),
  ],
  [
    'shadow',
    'compare an operator in production with Bellwire on copied traffic, without delivering anything',
    () => import('./shadow.ts'),
  ],
  ['send', 'send a file of activity request records and wait for their outcomes', () => import('./send.ts')],
  ['push', 'send one message, and show its life on both sides', () => import('./push.ts')],
  ['failed', 'work through Failed Actions: count, list, show, replay, dismiss, export', () => import('./failed.ts')],
  ['explain', 'show the whole life of a message, on one side or on both', () => import('./explain.ts')],
  [
    'status',
    'count the messages of each activity that were sent, delivered, displayed, clicked',
    () => import('./status.ts'),
  ],
  ['lanes', 'list the lanes of the platform: waiting messages, pauses, errors', () => import('./lanes.ts')],
  ['pause', 'pause a lane, or all lanes of a brand', () => import('./pause.ts')],
  [
    'resume',
    'resume a lane, or all lanes of a brand',
    async () => ({ command: (await import('./pause.ts')).resumeCommand }),
  ],
  ['cancel', 'cancel waiting messages by filter, with a preview', () => import('./cancel.ts')],
  ['devices', 'import, list and restore the devices of an operator', () => import('./devices.ts')],
  ['doctor', 'check the configuration and all that it names, and suggest fixes', () => import('./doctor.ts')],
  ['alerts', 'send a test alert to each receiver', () => import('./alerts.ts')],
  ['removals', 'show whether the removal of dead devices has stopped, and resume it', () => import('./removals.ts')],
  [
    'stand-ins',
    'run stand-ins of FCM, APNs and Web Push, to try push without an account',
    () => import('./stand-ins.ts'),
  ],
  ['reconcile', "compare an operator's list with the CRM and report discrepancies", () => import('./reconcile.ts')],
  ['attributes', "import users' attributes into the platform's CRM", () => import('./attributes.ts')],
  ['person', 'export or erase the data of a user', () => import('./person.ts')],
  [
    'permission',
    'export the proof that each user might get each message, and check it against a list of exclusions',
    () => import('./permission.ts'),
  ],
  ['audit', 'list, export and verify who did what', () => import('./audit.ts')],
  ['backup', 'copy the SQLite store of a running side into a folder', () => import('./backup.ts')],
  ['restore', 'check a backup, or put it in the place of a lost store', () => import('./restore.ts')],
  ['move', 'move the store of a side from SQLite to PostgreSQL', () => import('./move.ts')],
  ['migrate', 'migrate the stores to the current schema', () => import('./migrate.ts')],
  ['config', 'check or print the configuration', () => import('./config.ts')],
  ['keys', 'make API keys, and list the accepted keys with their last use', () => import('./keys.ts')],
  ['tokens', 'revoke the subscriber tokens of a user', () => import('./tokens.ts')],
  ['vapid', 'make a key pair for Web Push', () => import('./vapid.ts')],
  [
    'completion',
    'print a script that completes commands and options in a shell',
    async () => {
      const { command } = await import('./completion.ts')
      return { command: () => command(loadAll) }
    },
  ],
]

const loadAll = (): Promise<Command[]> =>
  Promise.all(commands.map(async ([name, , load]) => (await load()).command().name(name)))

/** Runs one command line and returns its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  stopOnClosedOutput()
  const program = new Command('bellwire')
    .description(
      'Both ends of the operator integration interface: the API that an operator hosts, and the engine that calls it.',
    )
    .version(version(), '-v, --version')
    .addHelpText(
      'after',
      '\nExamples:\n  bellwire demo\n  bellwire operator --config bellwire.yaml\n  bellwire send --file activities.ndjson --channel push\n\nNO_COLOR=1 turns colours off.\n',
    )
  const requested = args[0] === 'help' ? args[1] : args[0]
  for (const [name, help, load] of commands) {
    const command = name === requested ? (await load()).command() : new Command()
    program.addCommand(command.name(name).description(help))
  }
  for (const command of [program, ...program.commands, ...program.commands.flatMap((command) => command.commands)])
    command.exitOverride().showHelpAfterError(`(see ${fullName(command)} --help)`)
  if (args.length === 0) {
    program.outputHelp()
    return exit.ok
  }
  try {
    await refuseSubcommand(requested)
    await program.parseAsync(args as string[], { from: 'user' })
    return Number(process.exitCode ?? exit.ok)
  } catch (error) {
    return explain(error)
  }
}

/** @throws CliError if the word is no command but the subcommand of one */
async function refuseSubcommand(word = '-'): Promise<void> {
  if (word.startsWith('-') || commands.some(([name]) => name === word)) return
  const found = (await loadAll()).flatMap((command) => command.commands).filter((command) => command.name() === word)
  if (found.length === 0) return
  const names = found.map((command) => `bellwire ${fullName(command)}`)
  throw new CliError(exit.usage, `unknown command '${word}'. Did you mean ${names.join(' or ')}?`)
}

const fullName = (command: Command): string =>
  command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name()

function explain(error: unknown): number {
  // Commander has printed the message already. Help and version arrive here too, with exit code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exit.ok : exit.usage
  if (error instanceof ConfigError) {
    const count = error.problems.length
    console.error(`The configuration has ${count === 1 ? 'a problem' : `${count} problems`}:\n${error.message}`)
    return exit.usage
  }
  if (error instanceof CliError) {
    console.error(`bellwire: ${error.message}`)
    return error.exitCode
  }
  console.error(error)
  return exit.failed
}

// Runs in a checkout. In an installed package, bin/bellwire.cjs calls main.
if (import.meta.main) process.exitCode = await main(process.argv.slice(2))
