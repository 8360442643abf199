/** What the exit codes of every command mean; docs/running.md says the same. */
export const exit = {
  ok: 0,
  /** It ran, but not everything arrived or went well. */
  failed: 1,
  /** The command line or the configuration is wrong. */
  usage: 2,
  /** The other side or the store cannot be reached. */
  unreachable: 3,
} as const

export type ExitCode = (typeof exit)[keyof typeof exit]

/** Ends the command with this code and this sentence, without a stack. */
export class CliError extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}
