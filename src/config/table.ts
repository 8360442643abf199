// Every setting there is. Checking, defaults, environment names, printing and docs/running.md all come from this table.

import { oneOf } from './kinds.ts'
import { operator } from './operator-table.ts'
import { platform } from './platform-table.ts'
import { group, list, type ValueOf } from './setting.ts'

const log = group(
  { says: 'The log, on standard output.' },
  {
    level: oneOf(
      'debug',
      'info',
      'warn',
      'error',
      'silent',
    )({ says: 'How much is logged; info has one line for each attempt.', default: 'info' }),
    format: oneOf('auto', 'json', 'text')({ says: 'auto: text on a terminal, JSON elsewhere.', default: 'auto' }),
  },
)

const acceptRisks = list(
  oneOf(
    'clear_text_to_other_hosts',
    'example_keys',
    'shared_keys',
    'weak_keys',
  )({ says: 'A risk: clear_text_to_other_hosts, example_keys, shared_keys or weak_keys.' }),
  {
    says: 'Risks that are errors unless they are named here; `bellwire doctor` then warns of them. clear_text_to_other_hosts: credentials are sent to another machine without TLS. example_keys: a published key opens an API that other machines can reach. shared_keys: one key has two purposes. weak_keys: a key that can be guessed.',
  },
)

export const table = group(
  { says: 'The configuration of Bellwire.' },
  { operator, platform, log, accept_risks: acceptRisks },
)

export type Config = ValueOf<typeof table>
export type OperatorConfig = NonNullable<Config['operator']>
export type PlatformConfig = NonNullable<Config['platform']>
