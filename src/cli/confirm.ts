import { createInterface } from 'node:readline/promises'
import { CliError, exit } from './exit.ts'

/** Asks the person at the terminal. @throws CliError if the answer is no, or nobody can answer */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new CliError(exit.usage, `${question} Give --yes to confirm, or --preview to only count: nothing was changed`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(`${question} [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(exit.failed, 'nothing was changed')
  } finally {
    terminal.close()
  }
}
