// Every setting there is. Checking, defaults, environment names, printing and docs/running.md all come from this table.

import { oneOf } from './kinds.ts'
import { operator } from './operator-table.ts'
import { platform } from './platform-table.ts'
import { group, type ValueOf } from './setting.ts'

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

export const table = group({ says: 'The configuration of Bellwire.' }, { operator, platform, log })

export type Config = ValueOf<typeof table>
export type OperatorConfig = NonNullable<Config['operator']>
export type PlatformConfig = NonNullable<Config['platform']>
