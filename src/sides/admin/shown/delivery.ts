// A message of the send path as /admin shows it.

import { Type } from 'typebox'
import { timeOfUuidv7 } from '../../../base/runtime/ids.ts'
import type { Database } from '../../../base/store/database.ts'
import { op } from '../../../base/store/statement.ts'
import { messageKeyText, moment, nullable, text, whole } from '../../../contract/documents/described.ts'
import { readMessageKey } from '../../../contract/message-key.ts'
import { listDeviceSends } from '../../../subjects/delivery/device-sends.ts'
import type { MessageRow } from '../../../subjects/delivery/messages.ts'
import { readPermission } from '../../../subjects/delivery/permission.ts'
import { listRefusals } from '../../../subjects/delivery/refusals.ts'
import { findCall } from '../../../subjects/providers/calls.ts'
import { ShownCall } from './history.ts'

const evidence = { rule: Type.String(), answer: nullable(Type.String()), error: nullable(Type.String()) }
const uncertain = Type.Integer({ minimum: 0, maximum: 1, description: '1: no answer, the message may have arrived' })

const lastChange = {
  error: nullable(Type.String()),
  updated_at: moment('Time of the last change of the outcome'),
}

/** The fields of a message in a list and in its details. */
const common = {
  ref: text('push_id or site_notification_id'),
  key: messageKeyText,
  brand: Type.String(),
  channel: Type.Enum(['push', 'site']),
  id: text('activity.id'),
  user_id: Type.String(),
  outcome: Type.Enum(['in_flight', 'successful', 'failed', 'fatal']),
  rule: text('The reason for the outcome'),
  attempts: whole(),
  uncertain: whole('Attempts without an answer, which may have arrived'),
}

const ShownPermission = Type.Object(
  {
    decided: text('The field or the rule that decided'),
    fields: Type.Record(Type.String(), Type.Boolean(), {
      description: 'The checked fields with the values of the user',
    }),
    exempt: Type.Boolean({ description: 'A service message: consent was not checked' }),
    source: text('The attribute source'),
    read_at: moment('The time when the source was asked'),
    as_of: nullable(moment("The time of the source's data; null: the source does not tell it")),
  },
  { description: 'The check whether the user may get the message' },
)

/** A message in a list. */
export const ShownMessage = Type.Object({ ...common, ...lastChange })

/** A message with its evidence: the refusals, the calls, and the result at each device. */
export const ShownDelivery = Type.Object({
  ...common,
  ...lastChange,
  owner: text('The process of the last attempt; begins with its process id'),
  claimed_at: moment('Time of the first request with the message'),
  permission: nullable(ShownPermission),
  refusals: Type.Array(
    Type.Object({
      attempt: whole(),
      at: moment('Time of the refusal'),
      category: Type.Enum(['failed', 'fatal']),
      reason: Type.String(),
      ...evidence,
      call: nullable(Type.String()),
      uncertain,
    }),
  ),
  calls: Type.Array(ShownCall),
  devices: Type.Array(
    Type.Object({
      attempt: whole(),
      device: text('A hash of the token'),
      service: text('The push service; empty if none was called'),
      category: Type.Enum(['successful', 'failed', 'fatal']),
      ...evidence,
      provider_id: nullable(Type.String()),
      uncertain,
      at: moment('Time of the result'),
    }),
  ),
})

/** Reads a message and its evidence, without its text. */
export async function readDelivery(database: Database, row: MessageRow) {
  const { brand, ref } = row
  const refusals = await database.read(op(listRefusals, [[brand, ref]]))
  const devices = await database.read(op(listDeviceSends, [[brand, ref]]))
  // The latest refusal names the call that the message names.
  const callIds = new Set([row, ...refusals].flatMap(({ call }) => call ?? []))
  const calls = await database.read(op(findCall, [...callIds], (id) => [id]))
  const permission = await readPermission(database, row)
  const claimed = { owner: row.owner, claimed_at: timeOfUuidv7(ref) ?? 0 }
  return { ...shownMessage(row), ...claimed, permission, refusals, calls, devices }
}

function describeMessage(row: MessageRow) {
  const { channel, id, userId } = readMessageKey(row.key)
  return {
    ref: row.ref,
    key: row.key,
    brand: row.brand,
    channel,
    id,
    user_id: userId,
    outcome: row.state,
    rule: row.rule ?? 'in flight',
    attempts: row.attempt,
    uncertain: row.uncertain,
  }
}

export const shownMessage = (row: MessageRow) => ({
  ...describeMessage(row),
  error: row.error,
  updated_at: row.updated_at,
})
