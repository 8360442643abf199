// The table of all settings: the source of validation, defaults, environment variables, printing and docs/settings.md.

import { oneOf } from '../../base/runtime/kinds.ts'
import { group, list, type ValueOf } from '../../base/runtime/setting.ts'
import { operator } from '../../subjects/settings/operator.ts'
import { platform } from '../../subjects/settings/platform.ts'

const log = group('Log', {
  level: oneOf(['debug', 'info', 'warn', 'error', 'silent'], {
    help: 'The lowest level that is logged; info logs one line per attempt.',
    default: 'info',
  }),
  format: oneOf(['auto', 'json', 'text'], { help: 'auto: text on a terminal, otherwise JSON.', default: 'auto' }),
})

const acceptRisks = list(
  oneOf(['admin_on_public_address', 'clear_text_to_other_hosts', 'example_keys', 'shared_keys', 'weak_keys'], {
    help: 'A risk: admin_on_public_address, clear_text_to_other_hosts, example_keys, shared_keys or weak_keys.',
  }),
  {
    section: 'Accepted risks',
    help: 'Accepted risks. A risk that is not listed is an error; `bellwire doctor` warns of each listed one.',
  },
)

export const table = group('', { operator, platform, log, accept_risks: acceptRisks })

export type Config = ValueOf<typeof table>
export type OperatorConfig = NonNullable<Config['operator']>
export type PlatformConfig = NonNullable<Config['platform']>
