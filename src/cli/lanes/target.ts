// The arguments and options that the commands of lanes share, and the members of a request that they make.

import { type Command, Option } from 'commander'
import { CliError, exit } from '../exit.ts'
import type { Addressed } from '../running-side.ts'
import { time } from '../time.ts'

export interface Targeted extends Addressed {
  readonly brand?: string
}

/** Adds the argument and the option that name one lane, or all lanes of a brand. */
export const withTarget = (command: Command): Command =>
  command
    .argument('[lane]', 'the name of the lane, such as 1/push')
    .option('--brand <number>', 'all lanes of the brand, instead of one lane')

/** The members of a request body that name the lanes. */
export function targetOf(lane: string | undefined, { brand }: Targeted): { lane?: string; brand?: string } {
  if ((lane === undefined) === (brand === undefined))
    throw new CliError(
      exit.usage,
      'name either a lane, such as 1/push, or --brand NUMBER: bellwire lanes lists the lanes',
    )
  return lane === undefined ? { brand: brand as string } : { lane }
}

export interface Note {
  readonly reason: string
  readonly for?: number
}

/** Adds the options --reason and --for of a change. */
export const withNote = (command: Command): Command =>
  command
    .requiredOption('--reason <text>', 'why, for the next person')
    .addOption(new Option('--for <time>', 'end the change automatically after this time').argParser(time))

/** The reason and the expiry in a request body. */
export const noteOf = ({ reason, for: ms }: Note) => ({
  reason,
  ...(ms !== undefined && { for_seconds: Math.max(1, Math.round(ms / 1_000)) }),
})
