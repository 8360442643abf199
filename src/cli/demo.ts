import { Command, InvalidArgumentError } from 'commander'
import { CliError, exit } from './exit.ts'

/** Of the page. Not one that a development server usually takes. */
const usualPort = 4680

/** `bellwire demo`: both sides, sample traffic and a page, without an account, a server or a configuration. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('run both sides here, with sample traffic and a page to watch')
    .option('--once', 'end when the sample traffic has arrived; exit code 0 only if all of it did')
    .option('--port <number>', 'port of the page; 0 takes a free one', port)
    .addHelpText('after', '\nExamples:\n  bellwire demo\n  bellwire demo --once\n  bellwire demo --port 8080\n')
    .action(async (options: { once?: true; port?: number }) => {
      const { runDemo } = await import('../demo/demo.ts')
      const { default: about } = await import('../../package.json', { with: { type: 'json' } })
      const stop = new AbortController()
      // The second one ends the process at once.
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
      const once = options.once === true
      const asExpected = await runDemo({
        version: about.version,
        port: options.port ?? (once ? 0 : usualPort),
        once,
        signal: stop.signal,
      }).catch(explain)
      process.exitCode = asExpected ? exit.ok : exit.failed
    })
}

function port(text: string): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number <= 65_535) return number
  throw new InvalidArgumentError('It must be a number from 0 to 65535.')
}

function explain(error: Error & { code?: string; port?: number }): never {
  if (error.code !== 'EADDRINUSE') throw error
  throw new CliError(exit.usage, `port ${error.port} is in use: choose another with --port, or --port 0 for a free one`)
}
