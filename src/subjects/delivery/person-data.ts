// A person's messages of the send path, with their texts, refusals, results at devices, and calls.

import type { IdentifiedPart, PersonPart, PersonTable } from '../../base/people/person-data.ts'
import type { Database } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import { findCall } from '../providers/calls.ts'
import { listDeviceSends } from './device-sends.ts'
import { findByUser, type MessageRow } from './messages.ts'
import { readPermission } from './permission.ts'
import { listRefusals } from './refusals.ts'
import { readRequest } from './requests.ts'

const permissionColumns = ['permission', 'permission_read_at', 'permission_as_of']

const tables: readonly PersonTable[] = [
  {
    table: 'messages',
    digest: ['key', 'user_id'],
    emptied: ['error'],
    kept: {
      ref: 'the identifier that the platform was answered',
      ...Object.fromEntries(permissionColumns.map((column) => [column, 'the proof of permission'])),
    },
    impersonal: [
      'brand',
      'state',
      'attempt',
      'uncertain',
      'owner',
      'request',
      'start_at',
      'length',
      'updated_at',
      'rule',
    ].concat(['call', 'chunk']),
  },
  { table: 'permissions', impersonal: ['id', 'basis'] },
  { table: 'requests', emptied: ['text'], impersonal: ['id', 'tracking'] },
  { table: 'refusals', deleted: true },
  { table: 'device_sends', deleted: true },
  {
    table: 'calls',
    emptied: ['answer', 'error'],
    impersonal: ['id', 'provider', 'at', 'ms', 'messages', 'rule'],
  },
]

const pageMessages = 100

/** @param more found by the identifiers of the messages */
export const deliveryPersonPart = (more: readonly IdentifiedPart<string>[] = []): PersonPart => ({
  name: 'messages',
  tables: [...tables, ...more.flatMap((each) => each.tables)],
  async *read(database, { brand, userId }) {
    for (let before: string | undefined; ; ) {
      const found = await findByUser(database, brand, userId, {
        most: pageMessages,
        ...(before !== undefined && { before }),
      })
      yield await Promise.all(found.map((row) => readMessage(database, row, more)))
      if (found.length < pageMessages) return
      before = found.at(-1)?.ref
    }
  },
})

async function readMessage(database: Database, row: MessageRow, more: readonly IdentifiedPart<string>[]) {
  const { request, start_at: _, length: __, permission_read_at: ___, permission_as_of: ____, ...message } = row
  const ids = [[row.brand, row.ref]]
  const [stored, permission, refusals, devices, identified] = await Promise.all([
    readRequest(database, row),
    readPermission(database, row),
    database.read(op(listRefusals, ids)),
    database.read(op(listDeviceSends, ids)),
    Promise.all(more.map(async (each) => [each.name, await each.read(database, [row.ref])])),
  ])
  const calls = new Set([row.call, ...refusals.map(({ call }) => call)].filter((id) => id !== null))
  return {
    ...message,
    request,
    text: stored?.text ?? null,
    tracking: stored?.tracking ?? null,
    permission,
    refusals,
    devices,
    calls: await database.read(
      op(
        findCall,
        [...calls].map((id) => [id]),
      ),
    ),
    ...Object.fromEntries(identified),
  }
}
