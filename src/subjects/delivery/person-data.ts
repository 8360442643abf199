// A person's messages of the send path, with their texts, refusals, results at devices, and calls.

import type { ErasedPerson } from '../../base/people/digest.ts'
import type { IdentifiedPart, PersonPart, PersonTable } from '../../base/people/person-data.ts'
import { firstUuidv7 } from '../../base/runtime/ids.ts'
import { readPages } from '../../base/runtime/read-pages.ts'
import type { Database } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import { erasedKey } from '../../contract/message-key.ts'
import { callPersonPart } from '../providers/person-data.ts'
import { eraseDeviceSends, listDeviceSends } from './device-sends.ts'
import { eraseMessages, findByUser, type MessageRow } from './messages.ts'
import { readPermission } from './permission.ts'
import { eraseRefusals, listRefusals, selectCallsOf } from './refusals.ts'
import { eraseTexts, readRequest } from './requests.ts'

const permissionColumns = ['permission', 'permission_read_at', 'permission_as_of']

const tables: readonly PersonTable[] = [
  {
    table: 'messages',
    digest: ['key', 'user_id'],
    emptied: ['error'],
    kept: {
      ref: 'the identifier that the platform was answered',
      ...Object.fromEntries(
        permissionColumns.map((column) => [column, 'the proof of permission, with the digest of the user']),
      ),
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
  {
    table: 'revoked_tokens',
    kept: { digest: 'a revoked token is refused until the longest token has ended' },
    impersonal: ['brand', 'before'],
  },
  { table: 'requests', emptied: ['text', 'tracking'], impersonal: ['id'] },
  { table: 'refusals', deleted: true },
  { table: 'device_sends', deleted: true },
]

const pageMessages = 100

/** @param more found by the identifiers of the messages */
export const deliveryPersonPart = (more: readonly IdentifiedPart<string>[] = []): PersonPart => ({
  name: 'messages',
  tables: [...tables, ...callPersonPart.tables, ...more.flatMap((each) => each.tables)],
  async *read(database, { brand, userId }) {
    for await (const found of readMessages(database, brand, userId))
      yield await Promise.all(found.map((row) => readMessage(database, row, more)))
  },
  erase: (database, person) => eraseAll(database, person, more),
})

/**
 * The rows of the messages stay under digests of their keys: a repetition is not sent again. A message that a living process sends
 * now is erased when it is settled.
 */
async function eraseAll(database: Database, person: ErasedPerson, more: readonly IdentifiedPart<string>[]) {
  const sum = { erased: 0, waiting: 0 }
  for await (const found of readMessages(database, person.brand, person.userId, firstUuidv7(person.at + 1))) {
    const alive = await database.alive(found.filter(isInFlight).map(({ owner }) => owner))
    const rows = found.filter((row) => !isInFlight(row) || !alive.has(row.owner))
    sum.waiting += found.length - rows.length
    if (rows.length > 0) sum.erased += await erasePage(database, person, rows, more)
  }
  return sum
}

const readMessages = (database: Database, brand: string, userId: string, end = '~') =>
  readPages('ref', end, pageMessages, (before) => findByUser(database, brand, userId, { before, most: pageMessages }))

const isInFlight = ({ state }: MessageRow): boolean => state === 'in_flight'

async function erasePage(
  database: Database,
  person: ErasedPerson,
  rows: readonly MessageRow[],
  more: readonly IdentifiedPart<string>[],
): Promise<number> {
  await eraseTexts(database, rows)
  const keys = rows.map(({ brand, ref }) => [brand, ref])
  const refusals = await database.read(op(selectCallsOf, keys))
  const calls = [...rows, ...refusals].flatMap(({ call }) => call ?? [])
  const erased = rows.map(({ ref, key, state, attempt }) => [
    ref,
    state,
    attempt,
    erasedKey(key, person.userDigest, person.digestOf(key)),
    person.userDigest,
  ])
  const [changed] = await database.commit([
    op(eraseMessages, erased),
    op(eraseRefusals, keys),
    op(eraseDeviceSends, keys),
    ...callPersonPart.eraseOps(calls, person),
    ...more.flatMap((each) =>
      each.eraseOps(
        rows.map(({ ref }) => ref),
        person,
      ),
    ),
  ])
  return changed.length
}

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
  const calls = [row, ...refusals].flatMap(({ call }) => call ?? [])
  return {
    ...message,
    request,
    text: stored?.text ?? null,
    tracking: stored?.tracking ?? null,
    permission,
    refusals,
    devices,
    calls: await callPersonPart.read(database, calls),
    ...Object.fromEntries(identified),
  }
}
