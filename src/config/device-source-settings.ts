// Where the devices of users are known: settings of whoever sends to devices.

import { duration, store, text, url } from './kinds.ts'
import { moduleOf } from './shared-settings.ts'

const timeout = duration({ says: 'How long a question may take; then the messages are tried again.', default: '5s' })

/** A line for each kind of source. */
export const deviceSources = {
  registry: {},
  sql: {
    sql: text({
      says: 'A query for the devices of :users (and of :brand): user_id, token, kind, and app, environment, linked_at if there are such.',
    }),
    holders: text({
      says: 'A query for whose :tokens are, with the same columns. Left out: a message that names its target needs unregistered targets to be allowed.',
      optional: true,
    }),
    database: store({ says: 'Your own database; it is only read.', secret: true }),
    timeout,
  },
  http: {
    http: url({ says: 'Your endpoint: POST {"brand", "user_ids"} is answered with {"devices": […]}.' }),
    holders: url({ says: 'Your endpoint for POST {"brand", "tokens"}, as with sql.', optional: true }),
    header: text({ says: 'The header that carries the secret.', default: 'authorization' }),
    secret: text({ says: 'What is sent in it, such as "Bearer …".', secret: true, optional: true }),
    timeout,
  },
  module: moduleOf('a DeviceSource', 'source'),
}
