// The proof of permission of many messages: the regulator's file.

import type { AccessKey } from '../../base/http/access.ts'
import type { Columns } from '../../base/http/csv.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { readMessageParts } from '../../base/queue/item-keys.ts'
import { timeOfUuidv7 } from '../../base/runtime/ids.ts'
import type { Database } from '../../base/store/database.ts'
import { textOf } from '../../contract/documents/described.ts'
import { readMoment } from '../../contract/moment.ts'
import type { ReconciliationField as Field } from '../../contract/records.ts'
import { type CheckedMessage, readPermissions } from '../../subjects/delivery/permission-list.ts'
import { PermissionExport } from './requests.ts'
import { adminRoute } from './route.ts'
import { sendCsv } from './send-file.ts'

/** @param databaseOf the store of a brand. Undefined: this side delivers no messages of the brand */
export function permissionRoutes(databaseOf: (brand: string) => Database | undefined) {
  return {
    exportList: adminRoute({
      says: 'Returns the messages of a brand, sent or refused, with the check whether the user might get them.',
      query: PermissionExport,
      files: textOf('text/csv', 'A header line, then one message per line'),
      async handler({ query }, key, reply) {
        const database = demandDatabase(query.brand, key)
        const [from, to] = [readMoment(query.from) as number, readMoment(query.to) as number]
        return sendCsv(reply, 'permission', columns, readPermissions(database, query.brand, { from, to }))
      },
    }),
  }

  function demandDatabase(brand: string, key: AccessKey): Database {
    const database = key.brands?.includes(brand) === false ? undefined : databaseOf(brand)
    if (database) return database
    throw new HttpError(403, `the key ${key.name} is not for brand ${brand}, or this side delivers no messages of it`)
  }
}

const time = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : new Date(ms).toISOString()

/** Empty if the field was not checked. */
const valueAtSend =
  (field: Field) =>
  ({ basis }: CheckedMessage): string | null => {
    const value = basis?.fields[field]
    return value === undefined ? null : value ? 'yes' : 'no'
  }

function mayHaveArrived({ state, uncertain }: CheckedMessage): string {
  if (state === 'successful') return 'yes'
  return uncertain > 0 || state === 'in_flight' ? 'unknown' : 'no'
}

const columns: Columns<CheckedMessage> = {
  user: ({ user_id: user }) => user,
  activity: ({ key }) => readMessageParts(key)?.activityId ?? null,
  id: ({ key }) => readMessageParts(key)?.id ?? null,
  channel: ({ key }) => readMessageParts(key)?.channel ?? null,
  identifier: ({ ref }) => ref,
  received_at: ({ ref }) => time(timeOfUuidv7(ref)),
  sent_at: ({ state, updated_at: at }) => (state === 'successful' ? time(at) : null),
  outcome: ({ state }) => state,
  arrived: mayHaveArrived,
  excluded_at_send: valueAtSend('excluded'),
  blocked_at_send: valueAtSend('blocked'),
  active_at_send: valueAtSend('active'),
  consent_push_at_send: valueAtSend('consent_push_notification'),
  consent_site_at_send: valueAtSend('consent_site_notification'),
  service_message: ({ basis }) => (basis ? (basis.exempt ? 'yes' : 'no') : null),
  as_of: ({ permission_as_of: at }) => time(at),
  read_at: ({ permission_read_at: at }) => time(at),
  rule: ({ basis }) => basis?.decided ?? 'not checked',
  source: ({ basis }) => basis?.source ?? null,
}
