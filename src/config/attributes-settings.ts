// operator.attributes, operator.suppression, operator.reconciliation.

import { fields } from '../attributes/attribute-source.ts'
import { namesBrand } from '../attributes/sql-text.ts'
import { addressSettings } from './address-settings.ts'
import { brand, duration, integer, oneOf, path, postgres, text, url } from './kinds.ts'
import type { Problem } from './problem.ts'
import { group, list, type ValueOf, variants } from './setting.ts'
import { moduleOf, suppressionRules } from './shared-settings.ts'

const brands = list(brand({ help: 'A brand.' }), {
  help: 'The brands that this source covers. Default: all brands of operator.keys.',
  optional: true,
  minItems: 1,
})

const query = (help: string) => text({ help, optional: true })

const queries = group(
  { help: 'One query per field; it selects the ids of the users for whom the field is true. :brand is the brand.' },
  {
    blocked: query('Selects the ids of blocked users. The parameter :brand is the brand.'),
    excluded: query('Selects the ids of self-excluded users.'),
    active: query('Selects the ids of active users.'),
    consent_email: query('Selects the ids of users who consented to e-mail.'),
    consent_sms: query('Selects the ids of users who consented to SMS.'),
    consent_telephone: query('Selects the ids of users who consented to telephone calls.'),
    consent_post_mail: query('Selects the ids of users who consented to postal mail.'),
    consent_site_notification: query('Selects the ids of users who consented to on-site notifications.'),
    consent_push_notification: query('Selects the ids of users who consented to push notifications.'),
  },
)

const source = variants(
  {
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
      sql: postgres({ help: 'Your database of users. Bellwire only reads it.', secret: true }),
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
      http: url({ help: 'Your endpoint for user attributes.' }),
      fields: list(oneOf(...fields)({ help: 'A field.' }), { help: 'The fields that it provides.', minItems: 1 }),
      ...addressSettings,
      brands,
    },
    module: { ...moduleOf('source'), brands },
  },
)

export const attributeSettings = {
  attributes: list(source, {
    help: 'Sources of user attributes: blocked, excluded, active, consents. Suppression and reconciliation both read them.',
  }),
  suppression: variants(
    {
      help: 'Whether messages to blocked, excluded and unconsented users are suppressed. Default: the sources under operator.attributes decide.',
      remedy: 'list sources under operator.attributes, or write suppression: none to send to all users',
      optional: true,
    },
    {
      attributes: {
        ...suppressionRules,
        max_staleness: duration({
          help: 'How long the answer "this user may be messaged" is cached. 0ms: the sources are read before every send.',
          default: '0ms',
        }),
        timeout: duration({
          help: 'The longest wait for a source. After it nothing is sent: messages are fatal.',
          default: '5s',
        }),
      },
      none: {},
    },
  ),
  reconciliation: group(
    { help: 'Reconciliation lists for the platform.' },
    {
      streams: integer(
        1,
        1_000,
      )({
        help: 'The most concurrent lists; further requests are answered 503. A platform may request all nine fields at once.',
        default: '9',
      }),
      stall: duration({
        help: 'A list ends when its source sends nothing, or its caller reads nothing, for this long.',
        default: '30s',
      }),
      timeout: duration({ help: 'The longest duration of one list.', default: '30min' }),
    },
  ),
}

interface AttributesConfig {
  readonly keys: readonly { readonly brands: readonly string[] }[]
  readonly attributes: ValueOf<(typeof attributeSettings)['attributes']>
  readonly suppression?: ValueOf<(typeof attributeSettings)['suppression']>
}

/** Requires a source for each brand or `suppression: none`, so that a forgotten source cannot cause messages to blocked users. */
export function checkAttributes(
  { keys, attributes, suppression }: AttributesConfig,
  where: string,
  problems: Problem[],
): void {
  const all = [...new Set(keys.flatMap((key) => key.brands))]
  const none = suppression?.is === 'none'
  const uncovered = all.filter((brand) => !attributes.some((source) => source.brands?.includes(brand) ?? true))
  if (uncovered.length > 0 && !none)
    problems.push({
      path: 'operator.attributes',
      where,
      description: `no source covers brand ${uncovered.join(', ')}, so blocked users would be messaged`,
      remedy: 'write attributes: [{file: ./users.csv}], or suppression: none to send to all users',
    })
  for (const [i, source] of attributes.entries()) {
    if (source.is !== 'sql') continue
    const path = `operator.attributes[${i}].queries`
    const written = Object.entries(source.queries)
    if (written.length === 0)
      problems.push({
        path,
        where,
        description: 'has no query',
        remedy: `write a query for each field that you have: ${fields.join(', ')}`,
      })
    if ((source.brands ?? all).length < 2) continue
    for (const [field, query] of written) {
      if (!namesBrand(query))
        problems.push({
          path: `${path}.${field}`,
          where,
          description: 'selects the same users for every brand',
          remedy: 'compare the brand with :brand in the query, or write one source per brand with brands: [1]',
        })
    }
  }
}
