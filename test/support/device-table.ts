// A device source in the send path's own database, so that a test can check which changes are committed together.

import type { Database, Migration } from '../../src/base/store/database.ts'
import { op, rows, statement } from '../../src/base/store/statement.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import type { DeviceSource } from '../../src/subjects/devices/device-source.ts'

export const deviceTableMigrations: readonly Migration[] = [
  ...operatorMigrations,
  {
    name: 'test_devices/1',
    statements: ({ key }) => [
      `create table test_devices (brand ${key} not null, token ${key} not null, user_id ${key} not null, primary key (brand, token))`,
    ],
  },
]

const putDevices = statement('put_test_devices', { brand: 'text', token: 'text', user_id: 'text' })`
  insert into test_devices (brand, token, user_id) select r.brand, r.token, r.user_id from ${rows} r where true
  on conflict (brand, token) do update set user_id = excluded.user_id`
const deleteDevices = statement('drop_test_devices', { brand: 'text', token: 'text' })`
  delete from test_devices where (brand, token) in (select r.brand, r.token from ${rows} r)`
type Row = { brand: string; token: string; user_id: string }
const selectByUsers = statement<Row>('test_devices_of', { brand: 'text', user_id: 'text' })`
  select d.brand, d.token, d.user_id from ${rows} r join test_devices d on d.brand = r.brand and d.user_id = r.user_id`
const selectByTokens = statement<Row>('test_holders', { brand: 'text', token: 'text' })`
  select d.brand, d.token, d.user_id from ${rows} r join test_devices d on d.brand = r.brand and d.token = r.token`

export interface DeviceTable extends DeviceSource {
  /** The number of answered look-ups. */
  answered: number
  /** Links a token to a user, or moves it to this user. Resolves when the link is durable, as for a link that is answered 200. */
  link(brand: string, token: string, userId: string): Promise<void>
  unlinkNow(brand: string, token: string): Promise<void>
  left(): Promise<readonly string[]>
}

export function deviceTable(database: Database): DeviceTable {
  const holders = new Map<string, string | undefined>()
  const toDevice = ({ brand, token, user_id: userId }: Row): Device => ({
    brand,
    token,
    userId,
    kind: 'apns',
    linkedAt: '2026-01-01T00:00:00Z',
  })
  const table: DeviceTable = {
    name: 'table',
    answered: 0,
    async findDevices(brand, users) {
      const rows = await database.read(op(selectByUsers, users, (user) => [brand, user]))
      table.answered++
      return Map.groupBy(rows.map(toDevice), (device) => device.userId)
    },
    async findHolders(brand, tokens) {
      const rows = await database.read(op(selectByTokens, tokens, (token) => [brand, token]))
      table.answered++
      return new Map(rows.map((row) => [row.token, toDevice(row)]))
    },
    isRevoked({ brand, token, userId }) {
      const key = `${brand} ${token}`
      return holders.has(key) && holders.get(key) !== userId
    },
    unlink: (devices) => [op(deleteDevices, devices, ({ brand, token }) => [brand, token])],
    async link(brand, token, userId) {
      await database.commit([op(putDevices, [[brand, token, userId]])])
      holders.set(`${brand} ${token}`, userId)
    },
    async unlinkNow(brand, token) {
      await database.commit([op(deleteDevices, [[brand, token]])])
      holders.set(`${brand} ${token}`, undefined)
    },
    async left() {
      const rows = await database.read(op(selectTokens, [[]]))
      return rows.map(({ brand, token }) => `${brand} ${token}`)
    },
  }
  return table
}

const selectTokens = statement<{ brand: string; token: string }>('test_tokens', {})`
  select brand, token from test_devices order by brand, token`
