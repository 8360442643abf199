// platform.reconciliation: the operators' lists that are compared with the CRM.

import { brand, duration, integer, oneOf, url } from '../../base/runtime/kinds.ts'
import { group, list, rows } from '../../base/runtime/setting.ts'
import { reconciliationFields } from '../../contract/records.ts'
import { addressSettings } from './address.ts'
import { issuedKey } from './shared.ts'

export const reconciliation = rows(
  'The lists of operators that are compared with the attributes of the CRM.',
  {
    brand: brand({ help: 'The brand.' }),
    url: url({ help: "The operator's {base_url}." }),
    api_key: issuedKey('The API key issued by the operator for this brand, sent as X-Api-Key. Optional with `auth`.'),
    ...addressSettings,
    fields: list(oneOf(reconciliationFields, { help: 'A field.' }), {
      help: 'The fields that are compared.',
      minItems: 1,
      remedy: `write fields: [blocked, excluded]; the fields are ${reconciliationFields.join(', ')}`,
    }),
    every: duration({ help: 'How often each field is compared. Default: only on request.', optional: true }),
    grace: duration({
      help: 'Grace period: a CRM change is compared only if it is at least this much older than the operator’s data.',
      default: '5min',
    }),
    limits: group('Reconciliation: limits', {
      shrink: integer(0, 1_000_000, {
        help: 'The most that a list may shrink, in percent of the last one.',
        default: '20',
      }),
      grow: integer(0, 1_000_000, {
        help: 'The most that a list may grow, in percent of the last one.',
        default: '50',
      }),
    }),
  },
  { section: 'Reconciliation' },
)
