// The only owner of the table device_sends: the result of each attempt at each device, committed with the settle of the message.

import type { Migration, Value } from '../../base/store/database.ts'
import { insertNew } from '../../base/store/insert-new.ts'
import { rows, statement } from '../../base/store/statement.ts'
import type { Category } from '../../contract/outcome.ts'
import { shortened } from '../../contract/storable.ts'
import type { DeviceAnswer } from '../providers/push-service.ts'

export const deviceSendMigrations: readonly Migration[] = [
  {
    name: 'device_sends/1',
    statements: ({ engine, key, partitionedBy }) => [
      `create table device_sends (
         brand ${key} not null, ref ${key} not null, attempt bigint not null, device ${key} not null, service text not null,
         category text not null, rule text not null, provider_id text, error text, answer text, uncertain bigint not null,
         at bigint not null,
         primary key (brand, ref, attempt, device, at))${engine === 'sqlite' ? ' without rowid' : partitionedBy('at')}`,
    ],
    brandTables: [{ table: 'device_sends', brand: 'brand' }],
    partitioned: [{ table: 'device_sends', bound: String }],
  },
]

/** Inserting a row again changes nothing: a settle is repeated if its commit is in doubt. */
export const insertDeviceSends = insertNew({
  name: 'insert_device_sends',
  table: 'device_sends',
  key: 'brand, ref, attempt, device, at',
  columns: {
    brand: 'text',
    ref: 'text',
    attempt: 'bigint',
    device: 'text',
    service: 'text',
    category: 'text',
    rule: 'text',
    provider_id: 'text',
    error: 'text',
    answer: 'text',
    uncertain: 'bigint',
    at: 'bigint',
  },
})

export interface DeviceSend {
  readonly attempt: number
  /** A hash of the token (devices/identity.ts): readers of this row must not learn the token. */
  readonly device: string
  /** The push service; empty if none was called. */
  readonly service: string
  readonly category: Category
  readonly rule: string
  readonly provider_id: string | null
  readonly error: string | null
  readonly answer: string | null
  readonly uncertain: number
  readonly at: number
}

export function deviceSendRow(
  { brand, ref, attempt }: { readonly brand: string; readonly ref: string; readonly attempt: number },
  device: string,
  service: string,
  answer: DeviceAnswer,
  at: number,
): Value[] {
  const refused = answer.category !== 'successful'
  const uncertain = answer.category === 'fatal' && answer.uncertain ? 1 : 0
  const providerId = answer.providerId === undefined ? null : shortened(answer.providerId)
  return [
    brand,
    ref,
    attempt,
    device,
    service,
    answer.category,
    answer.rule,
    providerId,
    refused ? answer.error : null,
    answer.answer ?? null,
    uncertain,
    at,
  ]
}

/** The results of a message at its devices, oldest first. */
export const listDeviceSends = statement<DeviceSend>('list_device_sends', { brand: 'text', ref: 'text' })`
  select s.attempt, s.device, s.service, s.category, s.rule, s.provider_id, s.error, s.answer, s.uncertain, s.at
  from ${rows} r join device_sends s on s.brand = r.brand and s.ref = r.ref order by s.attempt, s.at, s.device`

/** Deletes all rows of these messages. */
export const eraseDeviceSends = statement('erase_device_sends', { brand: 'text', ref: 'text' })`
  delete from device_sends where (brand, ref) in (select r.brand, r.ref from ${rows} r)`
