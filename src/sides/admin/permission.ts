// The proof of permission of many messages: the regulator's file, and the check against a list of exclusions.

import { Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import type { Columns } from '../../base/http/csv.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { readMessageParts } from '../../base/queue/item-keys.ts'
import { timeOfUuidv7 } from '../../base/runtime/ids.ts'
import type { Database } from '../../base/store/database.ts'
import { text, textOf, whole } from '../../contract/documents/described.ts'
import { readMoment } from '../../contract/moment.ts'
import type { ReconciliationField as Field } from '../../contract/records.ts'
import { type Exclusions, findLateMessages } from '../../subjects/delivery/permission-check.ts'
import { type CheckedMessage, readPermissions } from '../../subjects/delivery/permission-list.ts'
import { readExclusions } from './exclusion-list.ts'
import { PermissionCheck, PermissionExport } from './requests.ts'
import { adminRoute } from './route.ts'
import { sendCsv } from './send-file.ts'
import { isBrandVisible } from './visibility.ts'

const dateTime = Type.String({ format: 'date-time' })
const mostListed = 10_000

const LateMessages = Type.Object({
  users: whole('The users of the list'),
  messages: whole('All messages of the brand'),
  certain: whole('Messages that were sent to a user after the exclusion'),
  unclear: whole(
    'Messages that were under way at the time of the exclusion or of the readmission, or of which it is unknown whether they arrived',
  ),
  longest_ms: whole('The longest time from an exclusion to such a message, in milliseconds'),
  found: Type.Array(
    Type.Object({
      user_id: Type.String(),
      ref: text('push_id or site_notification_id'),
      excluded_at: dateTime,
      sent_at: dateTime,
      certain: Type.Boolean(),
    }),
    { description: `The first ${mostListed} of both kinds` },
  ),
})

export interface PermissionParts {
  /** The store of a brand. Undefined: this side delivers no messages of the brand. */
  readonly databaseOf: (brand: string) => Database | undefined
  /** The users whom the attribute source of this side excludes now. */
  readonly exclusionsOf: (brand: string) => Promise<Exclusions>
}

export function permissionRoutes({ databaseOf, exclusionsOf }: PermissionParts) {
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
    check: adminRoute({
      says: 'Finds the messages that users got after the time of their exclusion.',
      query: PermissionCheck,
      bodies: textOf('text/csv', 'A line of names, then user_id, excluded_at and perhaps readmitted_at in each line'),
      streamed: ['text/csv'],
      gives: LateMessages,
      async handler({ query: { brand }, body }, key) {
        const database = demandDatabase(brand, key)
        if (!body) throw new HttpError(400, 'the body is empty: send one exclusion per line')
        return check(database, brand, await readExclusions(body as AsyncIterable<Buffer>))
      },
    }),
    checkSource: adminRoute({
      says: 'Finds the messages after their exclusion of the users whom the attribute source excludes now.',
      query: PermissionCheck,
      gives: LateMessages,
      refuses: { 501: 'The source cannot list users.' },
      async handler({ query: { brand } }, key) {
        const database = demandDatabase(brand, key)
        const exclusions = await exclusionsOf(brand).catch((error: Error) => {
          throw new HttpError(501, `the exclusions cannot be listed: ${error.message}`)
        })
        return check(database, brand, exclusions)
      },
    }),
  }

  async function check(database: Database, brand: string, exclusions: Exclusions) {
    const { found, ...counts } = await findLateMessages(database, brand, exclusions, mostListed)
    const shown = found.map((each) => ({
      ...each,
      excluded_at: new Date(each.excluded_at).toISOString(),
      sent_at: new Date(each.sent_at).toISOString(),
    }))
    return { users: exclusions.size, ...counts, found: shown }
  }

  function demandDatabase(brand: string, key: AccessKey): Database {
    const database = isBrandVisible(key, brand) ? databaseOf(brand) : undefined
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
