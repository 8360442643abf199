// Parts of the commands that run a fake side.

import { InvalidArgumentError } from 'commander'
import { CliError, exit } from '../exit.ts'

export function port(text: string): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number <= 65_535) return number
  throw new InvalidArgumentError('It must be a number from 0 to 65535.')
}

export function explain(error: Error & { readonly code?: string }): never {
  if (error.code === 'EADDRINUSE')
    throw new CliError(exit.usage, 'the port is in use: choose another with --port; --port 0 finds a free one')
  throw new CliError(exit.usage, error.message)
}

/** @example shownTimeOfDay(0) // '00:00:00.000' */
export const shownTimeOfDay = (at: number): string => new Date(at).toISOString().slice(11, 23)
