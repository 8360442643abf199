import { type Command, Option } from 'commander'
import type { Scope } from '../../runtime/access.ts'
import type { Client } from '../client.ts'
import { withConfig } from '../config-option.ts'
import { withSide } from '../running-side.ts'

export interface OperatorOption {
  readonly config?: string
  readonly url?: string
  readonly key?: string
}

/** --url and --key of the running operator, or its configuration. */
export function withOperator(command: Command, scope: Scope): Command {
  return withConfig(command)
    .addOption(
      new Option('--url <url>', 'the operator; default: where the configuration says that it listens').env(
        'BELLWIRE_URL',
      ),
    )
    .addOption(
      new Option(
        '--key <key>',
        `a key with the scope ${scope}; default: the first such key of operator.admin_keys`,
      ).env('BELLWIRE_KEY'),
    )
}

/** Gives the work a client of the running operator, ended by Ctrl-C. */
export function withOperatorClient<T>(
  options: OperatorOption,
  scope: Scope,
  notice: (text: string) => void,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const talk = {
    scopes: [scope],
    patienceMs: 120_000,
    notice,
    interrupted: 'interrupted; doing the same again is safe',
  }
  return withSide('operator', options, talk, work)
}
