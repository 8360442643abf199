// The argument and the option that name lanes, and the options of a change.

import type { Command } from 'commander'
import { CliError, exit } from '../exit.ts'

/** Adds the argument that names one lane. The option --brand names all lanes of a brand. */
export const withLane = (command: Command): Command =>
  command.argument('[lane]', 'the name of the lane, such as 1/push')

export const targetFlags = { brand: '--brand <number>' }
export const reasonFlags = { reason: '--reason <text>' }
export const noteFlags = { ...reasonFlags, for_seconds: '--for <time>' }

/** The members of a request body that name the lanes. */
export function targetOf(
  lane: string | undefined,
  { brand }: { readonly brand?: string },
): { lane?: string; brand?: string } {
  if ((lane === undefined) === (brand === undefined))
    throw new CliError(
      exit.usage,
      'name either a lane, such as 1/push, or --brand NUMBER: bellwire lanes lists the lanes',
    )
  return lane === undefined ? { brand: brand as string } : { lane }
}
