// operator.attributes, operator.suppression.

import { brand, duration, oneOf, path, postgres, text, url } from '../../base/runtime/kinds.ts'
import { group, list, variants } from '../../base/runtime/setting.ts'
import { fields } from '../attributes/attribute-source.ts'
import { addressSettings } from './address.ts'
import { moduleOf, suppressionRules } from './shared.ts'

const brands = list(brand({ help: 'A brand.' }), {
  help: 'The brands that this source covers. Default: all brands of operator.keys.',
  section: 'User attributes',
  optional: true,
  minItems: 1,
})

const query = (help: string) => text({ help, optional: true })

const queries = group('', {
  blocked: query('Selects the ids of blocked users. The parameter :brand is the brand.'),
  excluded: query('Selects the ids of self-excluded users.'),
  active: query('Selects the ids of active users.'),
  consent_email: query('Selects the ids of users who consented to e-mail.'),
  consent_sms: query('Selects the ids of users who consented to SMS.'),
  consent_telephone: query('Selects the ids of users who consented to telephone calls.'),
  consent_post_mail: query('Selects the ids of users who consented to postal mail.'),
  consent_site_notification: query('Selects the ids of users who consented to on-site notifications.'),
  consent_push_notification: query('Selects the ids of users who consented to push notifications.'),
})

const source = variants(
  {
    sections: {
      file: 'User attributes: a file',
      sql: 'User attributes: your database',
      http: 'User attributes: your endpoint',
    },
    help: 'One source.',
    remedy: 'write {file: ./users.csv}, {sql: postgres://…, queries: …}, {http: https://…}, or {module: ./mine.ts}',
  },
  {
    file: {
      file: path({
        help: 'A CSV or NDJSON file of user attributes, with the columns user_id and brand, and a column for each field.',
      }),
      brand: brand({ help: 'The brand of the users, if the file has no column brand.', optional: true }),
      brands,
    },
    sql: {
      sql: postgres({ help: 'Your database of users. Bellwire only reads it.', option: 'database' }),
      queries,
      as_of: text({
        help: 'A query for the time of the data, for a copy that lags behind: select max(loaded_at) from loads.',
        optional: true,
      }),
      max_lag: duration({
        help: 'Nothing is sent while the data is older than this. Default: no limit.',
        optional: true,
      }),
      brands,
    },
    http: {
      http: url({ help: 'Your endpoint for user attributes.', option: 'url' }),
      fields: list(oneOf(fields, { help: 'A field.' }), { help: 'The fields that it provides.', minItems: 1 }),
      ...addressSettings,
      brands,
    },
    module: { ...moduleOf('source'), brands },
  },
)

export const attributeSettings = {
  attributes: list(source, {
    section: 'User attributes',
    help: 'Sources of user attributes, for suppression and reconciliation.',
  }),
  suppression: variants(
    {
      section: 'Suppression',
      help: 'Whether user attributes suppress messages. Default: the sources under operator.attributes decide.',
      remedy: 'list sources under operator.attributes, or write suppression: none to send to all users',
      optional: true,
    },
    {
      attributes: {
        ...suppressionRules,
        timeout: duration({
          help: 'The longest wait for a source. After it nothing is sent: messages are fatal.',
          default: '5s',
        }),
      },
      none: {},
    },
  ),
}
