// Queues and topics from which the platform enqueues activity request records.

import { brand, oneOf } from '../../base/runtime/kinds.ts'
import { rows, type ValueOf } from '../../base/runtime/setting.ts'
import { consumedFrom } from './broker.ts'
import { someOf } from './shared.ts'

/** The default name of a queue or topic. */
export const defaultIntakeName = (channel: 'push' | 'site' | undefined): string =>
  channel === undefined ? 'activities' : `activities.${channel}`

export const intake = rows(
  'Queues and topics with activity request records, in addition to POST /admin/activities/CHANNEL.',
  {
    from: consumedFrom(
      'activities.CHANNEL, without a channel activities',
      '100',
      'The broker to which the records are published.',
    ),
    channel: oneOf(['push', 'site'], {
      help: 'The channel of all its records. Default: the type of each message, push or site.',
      optional: true,
    }),
    brands: someOf(
      brand({ help: 'A brand.' }),
      'The brands that its records may have. Default: all. List them if not every publisher may send for every brand.',
    ),
  },
  { section: 'Records from brokers' },
)
export type IntakeConfig = ValueOf<typeof intake>[number]
