import { Command, CommanderError } from 'commander'
import { ConfigError } from '../config/problem.ts'
import { stopOnClosedOutput } from './closed-output.ts'
import { CliError, exit } from './exit.ts'
import { version } from './version.ts'

// Only the requested command is loaded, so that `bellwire send` does not load a database driver.
const commands: readonly { name: string; help: string; load: () => Promise<Command> }[] = [
  {
    name: 'demo',
    help: 'run both sides locally, with sample traffic and a web page',
    load: async () => (await import('./demo.ts')).demoCommand(),
  },
  {
    name: 'operator',
    help: 'run the API that an operator hosts',
    load: async () => (await import('./operator.ts')).operatorCommand(),
  },
  {
    name: 'platform',
    help: 'run the engine that calls operators',
    load: async () => (await import('./platform.ts')).platformCommand(),
  },
  {
    name: 'check',
    help: 'check whether an operator or a platform follows the interface, in any language',
    load: async () => (await import('./check.ts')).checkCommand(),
  },
  {
    name: 'fake',
    help: 'run an operator or a platform in memory, with faults on request, to develop the other side',
    load: async () => (await import('./fake.ts')).fakeCommand(),
  },
  {
    name: 'send',
    help: 'send a file of activity request records and wait for their outcomes',
    load: async () => (await import('./send.ts')).sendCommand(),
  },
  {
    name: 'failed',
    help: 'work through Failed Actions: count, list, show, replay, dismiss, export',
    load: async () => (await import('./failed.ts')).failedCommand(),
  },
  {
    name: 'explain',
    help: 'show the whole life of a message, on one side or on both',
    load: async () => (await import('./explain.ts')).explainCommand(),
  },
  {
    name: 'status',
    help: 'count the messages of each activity that were sent, delivered, displayed, clicked',
    load: async () => (await import('./status.ts')).statusCommand(),
  },
  {
    name: 'lanes',
    help: 'list the lanes of the platform: waiting messages, pauses, errors',
    load: async () => (await import('./lanes.ts')).lanesCommand(),
  },
  {
    name: 'pause',
    help: 'pause a lane, or all lanes of a brand',
    load: async () => (await import('./pause.ts')).pauseCommand(),
  },
  {
    name: 'resume',
    help: 'resume a lane, or all lanes of a brand',
    load: async () => (await import('./pause.ts')).resumeCommand(),
  },
  {
    name: 'cancel',
    help: 'cancel waiting messages by filter, with a preview',
    load: async () => (await import('./cancel.ts')).cancelCommand(),
  },
  {
    name: 'devices',
    help: 'import, list and restore the devices of an operator',
    load: async () => (await import('./devices.ts')).devicesCommand(),
  },
  {
    name: 'doctor',
    help: 'check the configuration and all that it names, and suggest fixes',
    load: async () => (await import('./doctor.ts')).doctorCommand(),
  },
  {
    name: 'removals',
    help: 'show whether the removal of dead devices has stopped, and resume it',
    load: async () => (await import('./removals.ts')).removalsCommand(),
  },
  {
    name: 'stand-ins',
    help: 'run stand-ins of FCM, APNs and Web Push, to try push without an account',
    load: async () => (await import('./stand-ins.ts')).standInsCommand(),
  },
  {
    name: 'reconcile',
    help: "compare an operator's list with the CRM and report discrepancies",
    load: async () => (await import('./reconcile.ts')).reconcileCommand(),
  },
  {
    name: 'attributes',
    help: "import users' attributes into the platform's CRM",
    load: async () => (await import('./attributes.ts')).attributesCommand(),
  },
  {
    name: 'erase',
    help: "erase the texts of one user's messages",
    load: async () => (await import('./erase.ts')).eraseCommand(),
  },
  {
    name: 'migrate',
    help: 'migrate the stores to the current schema',
    load: async () => (await import('./migrate.ts')).migrateCommand(),
  },
  {
    name: 'config',
    help: 'check or print the configuration',
    load: async () => (await import('./config.ts')).configCommand(),
  },
  {
    name: 'vapid',
    help: 'make a key pair for Web Push',
    load: async () => (await import('./vapid.ts')).vapidCommand(),
  },
]

/** Runs one command line and returns its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  stopOnClosedOutput()
  const program = new Command('bellwire')
    .description(
      'Both ends of the operator integration interface: the API that an operator hosts, and the engine that calls it.',
    )
    .version(await version(), '-v, --version')
    .addHelpText(
      'after',
      '\nExamples:\n  bellwire demo\n  bellwire operator --config bellwire.yaml\n  bellwire send --file activities.ndjson --channel push\n\nNO_COLOR=1 turns colours off.\n',
    )
  const requested = args[0] === 'help' ? args[1] : args[0]
  for (const { name, help, load } of commands) {
    program.addCommand(
      name === requested ? (await load()).name(name).description(help) : new Command(name).description(help),
    )
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
  if (word.startsWith('-') || commands.some(({ name }) => name === word)) return
  const loaded = await Promise.all(commands.map(async ({ name, load }) => (await load()).name(name)))
  const found = loaded.flatMap((command) => command.commands).filter((command) => command.name() === word)
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
