// The settings of device sources, which supply the devices of users.

import { duration, store, text, url } from '../../base/runtime/kinds.ts'
import { addressSettings } from './address.ts'
import { moduleOf } from './shared.ts'

const timeout = duration({ help: 'Timeout of one query; after it the messages are retried.', default: '5s' })

/** One entry per kind of source. */
export const deviceSources = {
  registry: {},
  sql: {
    sql: text({
      help: 'A query for the devices of :users, and of :brand. Columns: user_id, token, kind; optional: app, environment, linked_at.',
      option: 'devices',
    }),
    holders: text({
      help: 'A query for the owners of :tokens, with the same columns. Default: none; messages that name a device then need unregistered_targets.',
      optional: true,
    }),
    database: store({ help: 'Your own database. Bellwire only reads it.' }),
    timeout,
  },
  http: {
    http: url({ help: 'Your endpoint. It answers POST {"brand", "user_ids"} with {"devices": […]}.', option: 'url' }),
    holders: url({
      help: 'Your endpoint for the owners of tokens: POST {"brand", "tokens"}.',
      optional: true,
      option: 'holdersUrl',
    }),
    ...addressSettings,
    timeout,
  },
  module: moduleOf('source'),
}
