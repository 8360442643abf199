// Delivery statuses at the operator (§1.5, rows 23 to 25).

import { yesNo } from './kinds.ts'
import { group } from './setting.ts'

export const statusSettings = group(
  {
    help: 'Records the delivery statuses of messages, with their meta, and returns them to the platform. Default: none are recorded.',
    optional: true,
  },
  {
    polling: yesNo({
      help: 'Whether the platform can read statuses at GET /messages/status, with its API key.',
      default: 'true',
    }),
  },
)
