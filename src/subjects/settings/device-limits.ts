// The most devices of one user: each message to the user is a call for each device.

import { integer } from '../../base/runtime/kinds.ts'
import { group } from '../../base/runtime/setting.ts'

export const deviceLimits = group('Devices of one user', {
  app: integer(1, 1_000, {
    help: 'The limit for links with a subscriber token, from an app or a page.',
    default: '20',
  }),
  services: integer(1, 1_000, {
    help: 'The limit for links from services, and for the devices of one message.',
    default: '200',
  }),
})

export const devicesPerUser = integer(1, 1_000, {
  section: 'Devices of one user',
  help: 'The most devices of one user. Beyond the limit, the device with the oldest link is unlinked.',
  default: '200',
})
