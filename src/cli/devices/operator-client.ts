import type { Command } from 'commander'
import type { Scope } from '../../runtime/access.ts'
import type { Client } from '../client.ts'
import { type Addressed, withAddress, withSide } from '../running-side.ts'

/** --url and --key of the running operator, or its configuration. */
export const withOperator = (command: Command, scope: Scope, patience?: string): Command =>
  withAddress(
    command,
    'operator',
    `a key with the scope ${scope}; default: the first such key of operator.admin_keys`,
    patience,
  )

/** For a question that a person waits for. */
export const shortPatience = '10s'

/** Gives the work a client of the running operator, ended by Ctrl-C. */
export function withOperatorClient<T>(
  options: Addressed,
  scope: Scope,
  notice: (text: string) => void,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const talk = {
    scopes: [scope],
    notice,
    interrupted: 'interrupted; doing the same again is safe',
  }
  return withSide('operator', options, talk, work)
}
