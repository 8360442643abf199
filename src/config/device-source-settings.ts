// The settings of device sources, which supply the devices of users.

import { addressSettings } from './address-settings.ts'
import { duration, store, text, url } from './kinds.ts'
import { moduleOf } from './shared-settings.ts'

const timeout = duration({ help: 'Timeout of one query; after it the messages are retried.', default: '5s' })

/** One entry per kind of source. */
export const deviceSources = {
  registry: {},
  sql: {
    sql: text({
      help: 'A query for the devices of :users, and of :brand. Columns: user_id, token, kind; optional: app, environment, linked_at.',
    }),
    holders: text({
      help: 'A query for the owners of :tokens, with the same columns. Default: none; messages that name a device then need unregistered_targets.',
      optional: true,
    }),
    database: store({ help: 'Your own database. Bellwire only reads it.', secret: true }),
    timeout,
  },
  http: {
    http: url({ help: 'Your endpoint. It answers POST {"brand", "user_ids"} with {"devices": […]}.' }),
    holders: url({ help: 'Your endpoint for the owners of tokens: POST {"brand", "tokens"}.', optional: true }),
    ...addressSettings,
    timeout,
  },
  module: moduleOf('source'),
}
