import type { Command } from 'commander'
import type { Scope } from '../../http/access.ts'
import type { Client } from '../client.ts'
import { type Addressed, withAddress, withSide } from '../running-side.ts'

/** Adds the options --url and --key of the running operator, and --config. */
export const withOperator = (command: Command, scope: Scope, patience?: string): Command =>
  withAddress(
    command,
    'operator',
    `a key with the scope ${scope}; default: the first such key of operator.admin_keys`,
    patience,
  )

/** The default of --patience for commands that a person waits for. */
export const shortPatience = '10s'

/** Runs the work with a client of the running operator. Ctrl-C aborts it. */
export function withOperatorClient<T>(
  options: Addressed,
  scope: Scope,
  notify: (text: string) => void,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const session = {
    scopes: [scope],
    notify,
    interrupted: 'interrupted; it is safe to repeat the command',
  }
  return withSide('operator', options, session, work)
}
