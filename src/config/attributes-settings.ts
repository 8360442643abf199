// operator.attributes, operator.suppression, operator.reconciliation.

import { fields } from '../attributes/attribute-source.ts'
import { namesBrand } from '../attributes/sql-text.ts'
import { brand, duration, integer, oneOf, path, store, text, url } from './kinds.ts'
import type { Problem } from './problem.ts'
import { group, list, type ValueOf, variants } from './setting.ts'
import { moduleOf } from './shared-settings.ts'

const brands = list(brand({ says: 'A brand.' }), {
  says: 'The brands that it is asked about; left out: all of operator.keys.',
  optional: true,
  least: 1,
})

const query = (says: string) => text({ says, optional: true })

const queries = group(
  { says: 'For each field a query for the ids of the users for whom it is true; :brand stands for the brand.' },
  {
    blocked: query('A query for the ids of blocked users, :brand stands for the brand.'),
    excluded: query('Likewise of users who excluded themselves.'),
    active: query('Likewise of active users.'),
    consent_email: query('Likewise of users who consent to e-mail.'),
    consent_sms: query('Likewise to SMS.'),
    consent_telephone: query('Likewise to calls.'),
    consent_post_mail: query('Likewise to letters.'),
    consent_site_notification: query('Likewise to on-site notifications.'),
    consent_push_notification: query('Likewise to push notifications.'),
  },
)

const source = variants(
  {
    says: 'One source.',
    remedy: 'write {file: ./users.csv}, {sql: postgres://…, queries: …}, {http: https://…}, or {module: ./mine.ts}',
  },
  {
    file: {
      file: path({ says: 'A CSV or NDJSON file of user attributes: user_id, brand, blocked, excluded, …' }),
      brand: brand({ says: 'The brand of its users, where the file does not say it.', optional: true }),
      brands,
    },
    sql: {
      sql: store({ says: 'The database of your users, PostgreSQL or SQLite. It is only read.', secret: true }),
      queries,
      as_of: text({
        says: 'A query for the time of the data, where it is not as fresh as its server: select max(loaded_at) from loads.',
        optional: true,
      }),
      max_lag: duration({
        says: 'Send nothing while the data is older than this. Left out: any age will do.',
        optional: true,
      }),
      brands,
    },
    http: {
      http: url({ says: 'An endpoint of yours that knows the users; docs/reconciliation.md says what it is asked.' }),
      fields: list(oneOf(...fields)({ says: 'A field.' }), { says: 'The fields that it knows.', least: 1 }),
      token: text({ says: 'Sent as Authorization: Bearer.', secret: true, optional: true }),
      brands,
    },
    module: { ...moduleOf('an AttributeSource', 'source'), brands },
  },
)

export const attributeSettings = {
  attributes: list(source, {
    says: 'Who is blocked, excluded, active, consenting. The same sources refuse sends (§4.1) and answer reconciliation (§2.5).',
  }),
  suppression: variants(
    {
      says: 'Whether sends are refused to blocked, excluded, inactive and unconsented users. Left out: as operator.attributes say.',
      remedy: 'sources stand under operator.attributes; suppression: none sends to everybody all the same',
      optional: true,
    },
    {
      attributes: {
        max_staleness: duration({
          says: 'How long "this user may be messaged" may be remembered; 0ms: each is asked about right before the send.',
          default: '0ms',
        }),
        timeout: duration({ says: 'A source that takes longer cannot answer, and nothing is sent.', default: '5s' }),
      },
      none: {},
    },
  ),
  reconciliation: group(
    { says: 'Lists of users for the platform (§2.5).' },
    {
      streams: integer(
        1,
        1_000,
      )({
        says: 'Most lists at a time; more are answered 503. A platform may ask for all nine fields at once.',
        default: '9',
      }),
      stall: duration({
        says: 'A source that gives, or a caller that takes, nothing for so long ends the list.',
        default: '30s',
      }),
      timeout: duration({ says: 'The longest that a list may take.', default: '30min' }),
    },
  ),
}

interface Checked {
  readonly keys: readonly { readonly brands: readonly string[] }[]
  readonly attributes: ValueOf<(typeof attributeSettings)['attributes']>
  readonly suppression?: ValueOf<(typeof attributeSettings)['suppression']>
}

/** Nobody is messaged by an oversight: each brand has somebody who knows its users, or it is written that this is not wanted. */
export function agreeOnAttributes(
  { keys, attributes, suppression }: Checked,
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
      what: `nothing says who of brand ${uncovered.join(', ')} must not be messaged`,
      remedy: 'write attributes: [{file: ./users.csv}], or suppression: none to send to everybody',
    })
  for (const [i, source] of attributes.entries()) {
    if (source.is !== 'sql') continue
    const path = `operator.attributes[${i}].queries`
    const written = Object.entries(source.queries)
    if (written.length === 0)
      problems.push({
        path,
        where,
        what: 'there is no query',
        remedy: `write one for each of ${fields.join(', ')} that you know`,
      })
    if ((source.brands ?? all).length < 2) continue
    for (const [field, query] of written) {
      if (!namesBrand(query))
        problems.push({
          path: `${path}.${field}`,
          where,
          what: 'gives the same users for several brands',
          remedy: 'write :brand where the query compares the brand, or one source for each brand with brands: [1]',
        })
    }
  }
}
