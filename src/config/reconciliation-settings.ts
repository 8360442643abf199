// platform.reconciliation: which lists of which operator are compared with the CRM.

import { reconciliationFields } from '../contract/records.ts'
import { brand, duration, integer, oneOf, size, text, url } from './kinds.ts'
import { group, list } from './setting.ts'

const percent = integer(0, 1_000_000)

export const reconciliation = list(
  group(
    { says: 'One brand’s operator.' },
    {
      brand: brand({ says: 'The brand.' }),
      url: url({ says: "The operator's {base_url}." }),
      api_key: text({ says: 'The key that the operator gave for this brand, sent as X-Api-Key.', secret: true }),
      fields: list(oneOf(...reconciliationFields)({ says: 'A field of §2.5.' }), {
        says: 'The fields of §2.5 that are compared.',
        least: 1,
        remedy: `write fields: [blocked, excluded], or others of ${reconciliationFields.join(', ')}`,
      }),
      every: duration({ says: 'How often each field is compared. Left out: only when asked for.', optional: true }),
      grace: duration({
        says: 'What the CRM changed from so long before the time of the operator’s data is too recent to judge.',
        default: '5min',
      }),
      limits: group(
        { says: 'What an answer must keep to; else it is refused, and nothing of it counts.' },
        {
          shrink: percent({ says: 'Most that a list may shrink against the last one, in percent.', default: '20' }),
          grow: percent({ says: 'Most that it may grow, in percent.', default: '50' }),
          slack: integer(0, 1_000_000_000)({ says: 'So many ids more or fewer are always fine.', default: '1000' }),
          id: size({ says: 'The longest id.', default: '16KiB' }),
          idle: duration({ says: 'The longest silence of the operator.', default: '30s' }),
          total: duration({ says: 'For the whole answer.', default: '15min' }),
        },
      ),
    },
  ),
  { says: 'The lists of operators that are compared with the CRM’s attributes (§2.5).' },
)
