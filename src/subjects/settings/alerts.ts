// operator.alerts and platform.alerts.

import { duration, integer, kind, oneOf, size, text, url } from '../../base/runtime/kinds.ts'
import { group, list, variants } from '../../base/runtime/setting.ts'
import { addressSettings } from './address.ts'

const smtp = kind(
  'smtp://HOST:587 or smtps://USER:PASSWORD@HOST',
  (text) => (URL.canParse(text) && /^smtps?:\/\/[^/?#]+\/?$/.test(text) ? text : undefined),
  { outbound: true, secret: true },
)

const address = text({ help: 'A mail address.' })

export const alerts = group(
  'Alerts',
  {
    to: list(
      variants(
        {
          help: 'A receiver of alerts.',
          remedy: 'write {webhook: URL} or {mail: smtps://USER:PASSWORD@HOST, from: …, to: […]}',
        },
        {
          webhook: {
            webhook: url({
              help: 'The address, to which alerts are posted as JSON.',
              option: 'url',
              secret: true,
              secretAddress: true,
            }),
            body: oneOf(['generic', 'slack', 'teams'], {
              help: 'The form of the body: generic, or a message of Slack or Microsoft Teams.',
              default: 'generic',
            }),
            ...addressSettings,
          },
          mail: {
            mail: smtp({ help: 'The mail server. smtp: STARTTLS is used if the server has it.', option: 'smtp' }),
            from: text({ help: 'The sender.' }),
            to: list(address, { help: 'The recipients.', minItems: 1 }),
          },
        },
      ),
      { help: 'The receivers of alerts.', minItems: 1 },
    ),
    after: duration({
      help: 'How long a trouble lasts before it is reported, unless a person has to end it.',
      default: '5min',
    }),
    oldest: duration({ help: 'A message that waits for longer is a trouble.', default: '15min' }),
    failed_per_hour: integer(0, 1_000_000_000, {
      help: 'More Failed Actions within an hour are a trouble.',
      default: '100',
    }),
    disk_free: size({
      help: 'Less free space on the disk of a SQLite store is a trouble.',
      default: '1GiB',
    }),
  },
  { optional: true },
)
