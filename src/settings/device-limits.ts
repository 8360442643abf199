// The most devices of one user: each message to the user is a call for each device.

import { integer } from '../runtime/kinds.ts'
import { group } from '../runtime/setting.ts'

const perUser = integer(1, 1_000)

export const deviceLimits = group(
  {
    help: 'Limits on the devices of one user. Beyond a limit, the device with the oldest link is unlinked.',
  },
  {
    app: perUser({ help: 'The limit for links with a subscriber token, from an app or a page.', default: '20' }),
    services: perUser({
      help: 'The limit for links from services. A message goes to at most this many devices.',
      default: '200',
    }),
  },
)

export const devicesPerUser = perUser({
  help: 'The most devices of one user. Beyond the limit, the device with the oldest link is unlinked.',
  default: '200',
})
