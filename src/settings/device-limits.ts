// The most devices of one user: each message to the user is a call for each device.

import { integer } from '../runtime/kinds.ts'
import { group } from '../runtime/setting.ts'

export const deviceLimits = group(
  'Limits on the devices of one user. Beyond a limit, the device with the oldest link is unlinked.',
  {
    app: integer(1, 1_000, {
      help: 'The limit for links with a subscriber token, from an app or a page.',
      default: '20',
    }),
    services: integer(1, 1_000, {
      help: 'The limit for links from services. A message goes to at most this many devices.',
      default: '200',
    }),
  },
)

export const devicesPerUser = integer(1, 1_000, {
  help: 'The most devices of one user. Beyond the limit, the device with the oldest link is unlinked.',
  default: '200',
})
