import { createInterface } from 'node:readline/promises'
import { CliError, exit } from './exit.ts'

/** Asks a question on the terminal. @returns the answer without surrounding spaces */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await terminal.question(question)).trim()
  } finally {
    terminal.close()
  }
}

/** Asks whether the person at the terminal agrees. */
export const agrees = async (question: string): Promise<boolean> => /^y(es)?$/i.test(await ask(`${question} [y/N] `))

/** Asks the person at the terminal. @throws CliError if the answer is no, or nobody can answer */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new CliError(exit.usage, `${question} Give --yes to confirm, or --preview to only count: nothing was changed`)
  if (!(await agrees(question))) throw new CliError(exit.failed, 'nothing was changed')
}
