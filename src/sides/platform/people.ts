import { erasurePersonPart } from '../../base/people/erasures.ts'
import type { PersonPart } from '../../base/people/person-data.ts'
import { queuePersonParts } from '../../base/queue/person-data.ts'
import { auditPersonPart } from '../../subjects/audit/person-data.ts'
import { conversionPersonPart } from '../../subjects/conversions/person-data.ts'
import { deliveryPersonPart } from '../../subjects/delivery/person-data.ts'
import { devicePersonPart } from '../../subjects/devices/person-data.ts'
import { inboxPersonPart } from '../../subjects/inbox/person-data.ts'
import { callPersonPart } from '../../subjects/providers/person-data.ts'
import { crmPersonParts } from '../../subjects/reconcile/person-data.ts'
import type { PeopleStore } from '../admin/people.ts'
import type { PlatformStore } from './stores.ts'

const parkedRecords = {
  'items.text of parked records':
    'a record of a broker whose user or brand is not known: replay or dismiss it; it is deleted after keep',
}

/** Everything that a store of the platform holds about a person, without the CRM. */
export const platformPersonParts: readonly PersonPart[] = [
  ...queuePersonParts({ byRef: [conversionPersonPart], byCall: [callPersonPart] }, parkedRecords),
  deliveryPersonPart(),
  inboxPersonPart,
  devicePersonPart,
  auditPersonPart,
  erasurePersonPart,
]

export const peopleIn = ({ database, crm }: Pick<PlatformStore, 'database' | 'crm'>): PeopleStore => ({
  database,
  parts: [
    ...platformPersonParts.map((part) => ({ database, part })),
    ...crmPersonParts.map((part) => ({ database: crm, part })),
    ...(crm === database ? [] : [{ database: crm, part: { ...auditPersonPart, name: 'crm_audit' } }]),
  ],
})
