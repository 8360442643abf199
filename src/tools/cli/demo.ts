import { Command } from 'commander'
import { CliError, exit } from './exit.ts'
import { wholeNumber } from './numbers.ts'

/** The default port of the page, which development servers rarely use. */
const defaultPort = 4680

/** `bellwire demo`: both sides, sample traffic and a web page, without an account, a server or a configuration. */
export function command(): Command {
  return new Command('demo')
    .description('run both sides locally, with sample traffic and a web page')
    .option('--once', 'exit when the sample traffic has arrived; the exit code is 0 only if all of it did')
    .option('--port <number>', 'the port of the page; 0 chooses a free port', wholeNumber(0, 65_535))
    .addHelpText('after', '\nExamples:\n  bellwire demo\n  bellwire demo --once\n  bellwire demo --port 8080\n')
    .action(async (options: { once?: true; port?: number }) => {
      const { runDemo } = await import('../demo/demo.ts')
      const { default: about } = await import('../../../package.json', { with: { type: 'json' } })
      const stop = new AbortController()
      // A second signal ends the process immediately.
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
      const once = options.once === true
      const succeeded = await runDemo({
        version: about.version,
        port: options.port ?? (once ? 0 : defaultPort),
        once,
        signal: stop.signal,
      }).catch(explain)
      process.exitCode = succeeded ? exit.ok : exit.failed
    })
}

function explain(error: Error & { code?: string; port?: number }): never {
  if (error.code !== 'EADDRINUSE') throw error
  throw new CliError(exit.usage, `port ${error.port} is in use: choose another with --port; --port 0 finds a free one`)
}
