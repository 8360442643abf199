import { erasurePersonPart } from '../../base/people/erasures.ts'
import type { PersonPart } from '../../base/people/person-data.ts'
import { queuePersonParts } from '../../base/queue/person-data.ts'
import { auditPersonPart } from '../../subjects/audit/person-data.ts'
import { deliveryPersonPart } from '../../subjects/delivery/person-data.ts'
import { devicePersonPart } from '../../subjects/devices/person-data.ts'
import { inboxPersonPart } from '../../subjects/inbox/person-data.ts'
import { statusPersonPart } from '../../subjects/status/person-data.ts'

/** Everything that the operator's store holds about a person. */
export const operatorPersonParts: readonly PersonPart[] = [
  deliveryPersonPart([statusPersonPart]),
  inboxPersonPart,
  devicePersonPart,
  erasurePersonPart,
  ...queuePersonParts(),
  auditPersonPart,
]
