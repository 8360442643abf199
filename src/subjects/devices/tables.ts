// The only file that writes the tables of row 20. They hold the latest link of each brand and device, and the latest unlink of
// each user. Every write takes a maximum, so neither order, nor repetition, nor concurrent processes matter: the tables always
// hold the result of merge() in ownership.ts.
//
// devices          the latest link of each device, in force or not (that depends on the unlinks of its user).
// device_unlinks   the latest unlink of each device and user, even if the device was never linked.
//
// The token of an ended link is deleted, unless a removal can be restored: `device` is its hash.

import type { Migration, Op, Value } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import type { Timestamp } from '../../contract/timestamp.ts'
import type { Device } from './device.ts'
import { appOrigin, type StampedEvent } from './device-event.ts'
import { idOf } from './identity.ts'
import { linkOrder } from './ownership.ts'

export const deviceTables: Migration = {
  name: 'devices/1',
  statements: ({ key }) => [
    `create table devices (
       brand ${key} not null, device ${key} not null, link_at ${key} not null, user_id ${key} not null,
       token ${key} not null, kind ${key} not null, app ${key} not null, environment ${key} not null,
       channel ${key} not null, origin ${key} not null, unproven bigint not null default 0,
       primary key (brand, device))`,
    // The user comes first. PostgreSQL keeps the plan that it made while the table was empty, when an index that starts with the
    // brand seems as good as the primary key; to find one device it would then read the whole brand.
    'create index devices_user on devices (user_id, brand)',
    `create table device_unlinks (
       brand ${key} not null, device ${key} not null, user_id ${key} not null, at ${key} not null, seen_at bigint not null,
       primary key (brand, device, user_id))`,
    'create index device_unlinks_seen_at on device_unlinks (seen_at)',
    // With the device, a look-up of one unlink reads one entry by this index too, if PostgreSQL prefers it to the primary key.
    // Without the device, it would read all unlinks of the user.
    'create index device_unlinks_user on device_unlinks (user_id, brand, device)',
  ],
  brandTables: [
    { table: 'devices', brand: 'brand' },
    { table: 'device_unlinks', brand: 'brand' },
  ],
}

/** Returns the operations that store these events. */
export function writeOps(events: readonly StampedEvent[], now: number): readonly Op[] {
  const links: Value[][] = []
  const unlinks: Value[][] = []
  for (const event of events) {
    const { brand, id, at, userId, token, kind, app, environment, channel, origin } = event
    if (event.what === 'unlink') unlinks.push(unlinkRow(event, now))
    else
      links.push([brand, id, at, userId, token, kind, app, environment, channel, origin, origin === appOrigin ? 1 : 0])
  }
  return [op(insertLinks, links), op(writeUnlinks, unlinks), clearTokensOp(events)]
}

/** Deletes the tokens of these devices that belong to nobody. The devices of a removal keep theirs until it is forgotten. */
export const clearTokensOp = (devices: readonly { readonly brand: string; readonly id: string }[]): Op =>
  op(clearTokens, devices, ({ brand, id }) => [brand, id])

/** Returns a row of writeUnlinks. */
export function unlinkRow(
  { brand, id, userId, at }: { brand: string; id: string; userId: string; at: Timestamp },
  now: number,
): Value[] {
  return [brand, id, userId, at, now]
}

const columnOf = { at: 'link_at', userId: 'user_id' } as const
const linkColumns = linkOrder.map((name) => columnOf[name as keyof typeof columnOf] ?? name)
const listed = (of: string): string => linkColumns.map((name) => `${of}.${name}`).join(', ')

const greaterLink = `
  on conflict (brand, device) do update set ${linkColumns.map((name) => `${name} = excluded.${name}`).join(', ')}
  where (${listed('excluded')}) > (${listed('devices')})`

// Rows are written in the order of their keys, so that two processes that write the same devices do not deadlock.
const insertLinks = statement({
  name: 'insert_device_links',
  columns: {
    brand: 'text',
    device: 'text',
    link_at: 'text',
    user_id: 'text',
    token: 'text',
    kind: 'text',
    app: 'text',
    environment: 'text',
    channel: 'text',
    origin: 'text',
    unproven: 'bigint',
  },
  text: (rows) => `
    insert into devices (brand, device, ${linkColumns.join(', ')}, unproven)
    select g.brand, g.device, ${listed('g')}, g.unproven from (
      select l.*, row_number() over (partition by l.brand, l.device
        order by ${linkColumns.map((name) => `l.${name} desc`).join(', ')}) as place
      from ${rows} l) g
    where g.place = 1 order by g.brand, g.device ${greaterLink}`,
  each: (values) =>
    `insert into devices (brand, device, ${linkColumns.join(', ')}, unproven) values (${values}) ${greaterLink}`,
})

/** Returns the operation that stores that a push to each of these devices was accepted. A later link does not change it. */
export const proveDevicesOp = (devices: readonly Device[]): Op =>
  op(proveDevices, devices, (device) => [device.brand, idOf(device)])

const proveDevices = statement('prove_devices', { brand: 'text', device: 'text' })`
  update devices set unproven = 0 from ${rows} r
  where devices.brand = r.brand and devices.device = r.device and devices.unproven = 1`

const laterUnlink = `
  on conflict (brand, device, user_id) do update set at = excluded.at, seen_at = excluded.seen_at
  where excluded.at > device_unlinks.at`

export const writeUnlinks = statement({
  name: 'insert_device_unlinks',
  columns: { brand: 'text', device: 'text', user_id: 'text', at: 'text', seen_at: 'bigint' },
  text: (rows) => `
    insert into device_unlinks (brand, device, user_id, at, seen_at)
    select r.brand, r.device, r.user_id, max(r.at), max(r.seen_at) from ${rows} r
    where true group by r.brand, r.device, r.user_id order by r.brand, r.device, r.user_id ${laterUnlink}`,
  each: (values) =>
    `insert into device_unlinks (brand, device, user_id, at, seen_at) values (${values}) ${laterUnlink}`,
})

/** The rows of a user's devices from before the erasure, as a timestamp and in epoch milliseconds. */
export const erasedDevice = { brand: 'text', device: 'text', user_id: 'text', before: 'text', at: 'bigint' } as const

export const eraseLinks = statement<{ device: string }>('erase_device_links', erasedDevice)`
  delete from devices where (brand, device) in (
    select d.brand, d.device from ${rows} r
    join devices d on d.brand = r.brand and d.device = r.device and d.user_id = r.user_id and d.link_at <= r.before)
  returning device`

export const eraseUnlinks = statement<{ device: string }>('erase_device_unlinks', erasedDevice)`
  delete from device_unlinks where (brand, device, user_id) in (
    select u.brand, u.device, u.user_id from ${rows} r
    join device_unlinks u on u.brand = r.brand and u.device = r.device and u.user_id = r.user_id and u.seen_at <= r.at
    where not exists (select 1 from devices d where d.brand = u.brand and d.device = u.device and d.user_id = u.user_id))
  returning device`

/** Begins the reason of a removal that cannot be restored: newer devices have taken the place of the device. */
export const replacedReason = 'replaced: '

// Sub-selects and no joins, so that PostgreSQL finds each row by its key, whatever plan it made while the tables were empty.
const clearTokens = statement('clear_device_tokens', { brand: 'text', device: 'text' })`
  update devices set token = '' from ${rows} r
  where devices.brand = r.brand and devices.device = r.device and devices.token <> ''
    and devices.link_at <= (
      select max(u.at) from device_unlinks u
      where u.brand = devices.brand and u.device = devices.device and u.user_id = devices.user_id)
    and 0 = (
      select count(*) from device_removals m
      where m.brand = devices.brand and m.device = devices.device and m.user_id = devices.user_id
        and m.link_at = devices.link_at and substr(m.why, 1, ${replacedReason.length}) <> '${replacedReason}'
        and m.at = (
          select max(u.at) from device_unlinks u
          where u.brand = m.brand and u.device = m.device and u.user_id = m.user_id))`

/** The stored state of a device, and of one of its users. */
export interface StateRow {
  /** A unique number that the caller gives each row. */
  readonly ticket: number
  readonly link_at: Timestamp | null
  readonly linked_to: string | null
  /** The latest unlink by the user to whom the device is linked. */
  readonly ended_at: Timestamp | null
  /** The latest unlink by the user of the query. */
  readonly unlinked_at: Timestamp | null
}

/** Reads the states from before the writes of the same commit. */
export const selectStates = statement<StateRow>({
  name: 'select_device_states',
  columns: { ticket: 'bigint', brand: 'text', device: 'text', user_id: 'text' },
  route: 'ticket',
  text: (rows) => `
    select r.ticket, d.link_at, d.user_id as linked_to, o.at as ended_at, u.at as unlinked_at
    from ${rows} r
    left join devices d on d.brand = r.brand and d.device = r.device
    left join device_unlinks u on u.brand = r.brand and u.device = r.device and u.user_id = r.user_id
    left join device_unlinks o on o.brand = d.brand and o.device = d.device and o.user_id = d.user_id`,
})

/** Reads the time of the last event of each device, of any user; '' if there was none. */
export const selectLast = statement<{ ticket: number; last: Timestamp }>({
  name: 'select_last_device_events',
  columns: { ticket: 'bigint', brand: 'text', device: 'text' },
  text: (rows) => `
    select x.ticket, case when x.linked > x.unlinked then x.linked else x.unlinked end as last
    from (
      select r.ticket, coalesce(d.link_at, '') as linked,
        coalesce((select max(k.at) from device_unlinks k where k.brand = r.brand and k.device = r.device), '') as unlinked
      from ${rows} r left join devices d on d.brand = r.brand and d.device = r.device) x`,
})

export interface DeviceRow {
  readonly brand: string
  readonly device: string
  readonly user_id: string
  readonly link_at: Timestamp
  readonly token: string
  readonly kind: string
  readonly app: string
  readonly environment: string
  readonly channel: string
  readonly origin: string
  /** 1: see Device.unproven. */
  readonly unproven: number
}

/** Reads the devices of these users, the most recently linked first. */
export const selectOfUsers = statement<DeviceRow>('select_devices_of_users', { brand: 'text', user_id: 'text' })`
  select d.brand, d.device, ${listed('d')}, d.unproven
  from ${rows} r
  join devices d on d.brand = r.brand and d.user_id = r.user_id
  left join device_unlinks u on u.brand = d.brand and u.device = d.device and u.user_id = d.user_id
  where u.at is null or u.at < d.link_at
  order by d.brand, d.user_id, d.link_at desc, d.device`

/** A device that the user has linked or unlinked, in force or not. */
export interface OwnRow extends Pick<DeviceRow, 'brand' | 'device' | 'user_id' | 'link_at' | 'token' | 'kind'> {
  readonly app: string
  readonly environment: string
  readonly channel: string
  /** The user's latest unlink; '' if there is none. */
  readonly ended_at: Timestamp
}

export const selectOwn = statement<OwnRow>('select_own_devices', { brand: 'text', user_id: 'text' })`
  select d.brand, d.device, d.user_id, d.link_at, d.token, d.kind, d.app, d.environment, d.channel,
    coalesce(u.at, '') as ended_at
  from ${rows} r
  join devices d on d.brand = r.brand and d.user_id = r.user_id
  left join device_unlinks u on u.brand = d.brand and u.device = d.device and u.user_id = d.user_id
  union all
  select u.brand, u.device, u.user_id, '' as link_at, '' as token, '' as kind, '' as app, '' as environment, '' as channel,
    u.at as ended_at
  from ${rows} r
  join device_unlinks u on u.brand = r.brand and u.user_id = r.user_id
  where not exists (
    select 1 from devices d where d.brand = u.brand and d.device = u.device and d.user_id = u.user_id)`

/** Reads the devices beyond each user's limit, at most 1,000, after the writes of the same commit. Counts by the index. */
export const selectExcess = statement<DeviceRow & { ticket: number }>({
  name: 'select_excess_devices',
  columns: { ticket: 'bigint', brand: 'text', user_id: 'text', most: 'bigint' },
  route: 'ticket',
  text: (rows) => `
    select x.ticket, x.brand, x.device, ${listed('x')}, x.unproven from (
      select r.ticket, r.most, d.*,
        row_number() over (partition by r.ticket order by d.link_at desc, d.device) as place
      from (select s.* from ${rows} s where (
        select count(*) from devices c where c.brand = s.brand and c.user_id = s.user_id) > s.most) r
      join devices d on d.brand = r.brand and d.user_id = r.user_id
      left join device_unlinks u on u.brand = d.brand and u.device = d.device and u.user_id = d.user_id
      where u.at is null or u.at < d.link_at) x
    where x.place > x.most and x.place <= x.most + 1000`,
})

export interface HolderRow extends DeviceRow {
  /** 1: the device is linked; 0: it is known but belongs to nobody. */
  readonly held: number
}

/** Reads the holders of these devices; a device that was never seen is absent. */
export const selectHolders = statement<HolderRow>('select_device_holders', { brand: 'text', device: 'text' })`
  select r.brand, r.device, ${listed('d')}, d.unproven,
    case when d.link_at is not null and (u.at is null or u.at < d.link_at) then 1 else 0 end as held
  from ${rows} r
  left join devices d on d.brand = r.brand and d.device = r.device
  left join device_unlinks u on u.brand = d.brand and u.device = d.device and u.user_id = d.user_id
  where coalesce(d.link_at,
    (select max(k.at) from device_unlinks k where k.brand = r.brand and k.device = r.device)) is not null`
