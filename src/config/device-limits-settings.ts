// How many devices one user may have: each is a call for each of the user's messages.

import { integer } from './kinds.ts'
import { group } from './setting.ts'

const perUser = integer(1, 1_000)

export const deviceLimits = group(
  {
    says: 'Limits of the devices of one user. Beyond them the device that was linked the longest time ago is unlinked.',
  },
  {
    app: perUser({ says: 'After a link with a subscriber token, by an app or a page.', default: '20' }),
    services: perUser({
      says: 'After a link by a service. A message goes to no more devices than this.',
      default: '200',
    }),
    app_per_minute: integer(
      1,
      1_000_000,
    )({
      says: 'The most tokens that one user links, and as many that one user unlinks, through /app in a minute; more are answered 429.',
      default: '200',
    }),
  },
)

export const devicesPerUser = perUser({
  says: 'Most devices of one user. Beyond them the device that was linked the longest time ago is unlinked.',
  default: '200',
})
