// Parts of the commands that run a fake side.

import { CliError, exit } from '../exit.ts'
import { wholeNumber } from '../numbers.ts'

export const port = wholeNumber(0, 65_535)

export function explain(error: Error & { readonly code?: string }): never {
  if (error.code === 'EADDRINUSE')
    throw new CliError(exit.usage, 'the port is in use: choose another with --port; --port 0 finds a free one')
  throw new CliError(exit.usage, error.message)
}

/** @example shownTimeOfDay(0) // '00:00:00.000' */
export const shownTimeOfDay = (at: number): string => new Date(at).toISOString().slice(11, 23)
