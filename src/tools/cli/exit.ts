/** The exit codes of all commands, documented in docs/running.md. */
export const exit = {
  ok: 0,
  /** The command ran, but not everything succeeded. */
  failed: 1,
  /** The command line or the configuration is wrong. */
  usage: 2,
  /** The other side or the store cannot be reached. */
  unreachable: 3,
} as const

export type ExitCode = (typeof exit)[keyof typeof exit]

/** Ends the command with this exit code and message, without a stack trace. */
export class CliError extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Handles an error about the input of the command. @example await readFile(file).catch(refuseWith('--file cannot be read')) */
export const refuseWith =
  (what: string) =>
  (error: Error): never => {
    throw new CliError(exit.usage, `${what}: ${error.message}`)
  }

/** The action of a command whose work returns the exit code. */
export const exitWith =
  <Args extends readonly unknown[]>(work: (...args: Args) => Promise<number>) =>
  async (...args: Args): Promise<void> => {
    process.exitCode = await work(...args)
  }
