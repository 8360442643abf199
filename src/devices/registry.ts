// Our own registry of devices, the same on both ends: fed by link and unlink events from wherever they come, asked by the
// send path. The rule is in ownership.ts, the SQL in tables.ts.

import { emit } from '../runtime/events.ts'
import { gather } from '../runtime/gather.ts'
import type { Database, Migration, Op, Value } from '../store/database.ts'
import { op } from '../store/statement.ts'
import type { Device } from './device.ts'
import type { DeviceEvent, StampedEvent } from './device-event.ts'
import { type Change, changeOf, deviceOf, linkAgain, stateOf, unlinkOf } from './device-rows.ts'
import type { DeviceSource, Holder } from './device-source.ts'
import { deviceId, idOf } from './identity.ts'
import { bareLink, linked, merge, owner, type TokenState, unknown, unlinked } from './ownership.ts'
import {
  listRemovals,
  type RemovalCursor,
  type RemovalFilter,
  type RemovalRow,
  removalTables,
  removeOps,
  restoredOp,
} from './removals.ts'
import { removalsKeptMs } from './retention.ts'
import { createRevocations } from './revocations.ts'
import {
  type DeviceRow,
  deviceTables,
  type StateRow,
  selectExcess,
  selectHolders,
  selectLast,
  selectOfUsers,
  selectStates,
  writeOps,
} from './tables.ts'
import { clampTo, justAfter, type Timestamp, timestampOf } from './timestamp.ts'

export const deviceMigrations: readonly Migration[] = [deviceTables, removalTables]

export interface Registry extends DeviceSource {
  /**
   * Takes events in any order and any number of times, in one durable commit with `also` (the rows that belong to them).
   * Two events of one device without a time must not be taken together: only their times could say which was first.
   *
   * If a user then has more than `most` devices, the devices with the oldest links are removed.
   *
   * @param most devices a user; the registry's own limit
   * @returns the change of each event, in order
   */
  take(events: readonly DeviceEvent[], also?: readonly Op[], most?: number): Promise<readonly Change[]>
  /** A user's devices with all that is kept about them. */
  list(brand: string, userId: string): Promise<readonly DeviceRow[]>
  unlink(devices: readonly Device[], why: string): readonly Op[]
  /** The same, committed. */
  remove(devices: readonly Device[], why: string): Promise<void>
  revoked(device: Device): boolean
  /** Removals of the last 30 days, the oldest first. */
  removed(filter: RemovalFilter, limit?: number, after?: RemovalCursor): Promise<readonly RemovalRow[]>
  /** Takes removals back: links again what is nobody's because of them. @returns how many devices */
  restore(filter: RemovalFilter): Promise<number>
}

/** Whoever is told what the registry learns: rows of theirs, committed with its own (see outbox.ts). */
export interface Told {
  tell(events: readonly StampedEvent[]): readonly Op[]
}

export interface RegistryOptions {
  readonly database: Pick<Database, 'commit' | 'read'>
  /** How long revoked() knows of an unlink; longer than any send lives. */
  readonly rememberMs?: number
  readonly now?: () => number
  /** Other processes change it too: a device is looked up once more before it is sent to. */
  readonly shared?: boolean
  readonly told?: Told | undefined
  /** Most devices a user. 200. */
  readonly devicesPerUser?: number
}

export const devicesPerUser = 200

/**
 * A registry in a database that has `deviceMigrations`.
 *
 * @example
 * const registry = createRegistry({ database })
 * const events = eventsOf(record, { what: 'link', brand: '1' })
 * if ('invalid' in events) throw new Error(events.invalid)
 * await registry.take(events)
 * await registry.of('1', ['1001'], { deadline, signal })
 */
export function createRegistry(options: RegistryOptions): Registry {
  const { database, rememberMs, now = Date.now, shared = false, told } = options
  const revocations = createRevocations({ now, ...(rememberMs !== undefined && { keptMs: rememberMs }) })

  async function write(events: readonly StampedEvent[], also: readonly Op[] = []): Promise<readonly Change[]> {
    return (await writeWithin(events, also, [])).changes
  }

  /** @param limits rows of selectExcess */
  async function writeWithin(events: readonly StampedEvent[], also: readonly Op[], limits: readonly Value[][]) {
    const asked = events.map(({ brand, id, userId }) => [++tickets, brand, id, userId])
    const ops = [op(selectStates, asked), op(selectExcess, limits), ...writeOps(events, now()), ...also] as const
    const [rows, excess] = await database.commit(ops)
    const was = new Map(rows.map((row) => [row.ticket, row]))
    // Events of one device apply one after the other.
    const states = new Map<string, TokenState>()
    const changes = events.map((event, i) => {
      const key = `${event.brand} ${event.id}`
      const stored = stateOf(event, was.get(asked[i]?.[0] as number) as StateRow)
      const before = merge(states.get(key) ?? unknown, stored)
      const after = merge(before, event.what === 'link' ? linked(event) : unlinked(event.userId, event.at))
      states.set(key, after)
      return settle(event, before, after)
    })
    return { changes, excess }
  }

  /** The users of the links, each with the limit. */
  function limitsOf(events: readonly StampedEvent[], most: number): Value[][] {
    const users = new Map(events.filter(({ what }) => what === 'link').map((event) => [userOf(event), event]))
    return [...users.values()].map(({ brand, userId }) => [++tickets, brand, userId, most])
  }

  /** Removes devices by an unlink just after their link. A device that is linked again stays (row 20). */
  async function replace(rows: readonly DeviceRow[], most: number): Promise<void> {
    if (rows.length === 0) return
    const devices = rows.map(deviceOf)
    await write(devices.map(unlinkOf), unlink(devices, `replaced: the user has more than ${most} devices`))
  }

  /** All calls in one turn of the event loop share a look-up. */
  const refresh = gather<Refreshing>((asked) => {
    const rows = asked.map(({ device }, n) => [n, device.brand, idOf(device), device.userId])
    database.read(op(selectStates, rows)).then(
      (states) => {
        for (const row of states) noteIfRevoked((asked[row.ticket] as Refreshing).device, row)
        for (const { done } of asked) done()
      },
      (error: unknown) => {
        for (const { failed } of asked) failed(error)
      },
    )
  })

  function noteIfRevoked(device: Device, row: StateRow): void {
    const { brand, userId, linkedAt } = device
    const state = stateOf(device, row)
    if (owner(merge(linked(bareLink(linkedAt, userId)), state)) !== userId) revocations.note(brand, idOf(device), state)
  }

  function settle(event: StampedEvent, before: TokenState, after: TokenState): Change {
    const { what, brand, id } = event
    // No send is in flight to a device without an owner, so the first link or unlink of a device need not be remembered.
    const moved = before.link !== undefined && before.link.userId !== after.link?.userId
    const ended = what === 'unlink' && before.link !== undefined
    if (ended || moved || revocations.knows(brand, id)) revocations.note(brand, id, after)
    const change = changeOf(event, before, after)
    announce(event, change, before)
    return change
  }

  /**
   * Gives each event without a time its time before the commit, because the same time is published (row 20): now, or just
   * after the last event of the device, whichever is later.
   */
  async function stampAll(events: readonly DeviceEvent[]): Promise<readonly StampedEvent[]> {
    const unstamped = events.flatMap(({ at, brand, id }, i) => (at === undefined ? [[i, brand, id]] : []))
    if (unstamped.length === 0) return events as readonly StampedEvent[]
    const rows = await database.read(op(selectLast, unstamped))
    const known = new Map(rows.map(({ ticket, last }) => [ticket, last]))
    const clock = timestampOf(now())
    // Events of one device apply one after the other.
    const latest = new Map<string, Timestamp>()
    return events.map((event, i) => {
      const key = `${event.brand} ${event.id}`
      const before = [latest.get(key) ?? '', known.get(i) ?? ''].sort().at(-1) as Timestamp
      const at = event.at ?? (before >= clock ? justAfter(before) : clock)
      if (at > before) latest.set(key, at)
      return { ...event, at }
    })
  }

  function unlink(devices: readonly Device[], why: string): readonly Op[] {
    return [...removeOps(devices, why, now()), ...(told?.tell(devices.map(unlinkOf)) ?? [])]
  }

  return {
    name: 'registry',

    async of(brand, userIds) {
      const rows = await database.read(
        op(
          selectOfUsers,
          [...new Set(userIds)].map((userId) => [brand, userId]),
        ),
      )
      const devices = new Map<string, Device[]>()
      for (const row of rows) {
        const mine = devices.get(row.user_id)
        if (mine) mine.push(deviceOf(row))
        else devices.set(row.user_id, [deviceOf(row)])
      }
      return devices
    },

    async holders(brand, tokens) {
      const ids = new Map(tokens.map((token) => [token, deviceId(token)]))
      const rows = await database.read(
        op(
          selectHolders,
          [...new Set(ids.values())].map((id) => [brand, id]),
        ),
      )
      const holderOf = new Map(rows.map((row) => [row.device, row.held === 1 ? deviceOf(row) : 'nobody']))
      const found = new Map<string, Holder>()
      for (const [token, id] of ids) {
        const holder = holderOf.get(id)
        if (holder !== undefined) found.set(token, holder as Holder)
      }
      return found
    },

    revoked: (device) => revocations.has(device),

    ...(shared && {
      refresh: (device: Device) => new Promise<void>((done, failed) => refresh({ device, done, failed })),
    }),

    unlink,

    async remove(devices, why) {
      await database.commit(unlink(devices, why))
    },

    async take(events, also = [], most = options.devicesPerUser ?? devicesPerUser) {
      const stamped = await stampAll(clampAll(events, now()))
      const writes = told ? [...also, ...told.tell(stamped)] : also
      const { changes, excess } = await writeWithin(stamped, writes, limitsOf(stamped, most))
      await replace(excess, most)
      return changes
    },

    list: (brand, userId) => database.read(op(selectOfUsers, [[brand, userId]])),

    removed: (filter, limit = 100, after) => database.read(listRemovals(recent(filter, now()), limit, after)),

    async restore(filter) {
      let restored = 0
      for (;;) {
        const rows = await database.read(listRemovals({ ...recent(filter, now()), restorable: true }, restoredAtATime))
        if (rows.length === 0) return restored
        const links = rows.map(linkAgain)
        const changes = await write(links, [restoredOp(rows, now()), ...(told?.tell(links) ?? [])])
        const count = changes.filter((change) => change === 'linked').length
        restored += count
        emit('device.restored', { brand: filter.brand, count })
      }
    },
  }
}

let tickets = 0
const userOf = ({ brand, userId }: DeviceEvent): string => `${brand} ${userId}`

interface Refreshing {
  readonly device: Device
  readonly done: () => void
  readonly failed: (error: unknown) => void
}
const restoredAtATime = 1_000

function announce({ brand, id, userId, kind, origin }: DeviceEvent, change: Change, before: TokenState): void {
  if (change === 'linked') emit('device.linked', { brand, userId, device: id, kind, origin })
  else if (change === 'unlinked') emit('device.unlinked', { brand, userId, device: id, kind, origin })
  else if (change === 'moved')
    emit('device.moved', { brand, userId, from: owner(before) as string, device: id, kind, origin })
}

/** Row 20: an event whose time is too far ahead of this clock counts as of now. */
function clampAll(events: readonly DeviceEvent[], now: number): readonly DeviceEvent[] {
  const clamp = clampTo(now)
  return events.map((event) => {
    if (event.at === undefined) return event
    const { at, clamped } = clamp(event.at)
    if (!clamped) return event
    const { brand, id, origin, what } = event
    emit('device.clamped', { brand, device: id, what, origin, written: event.at, taken: at })
    return { ...event, at }
  })
}

function recent(filter: RemovalFilter, now: number): RemovalFilter {
  return { ...filter, since: Math.max(filter.since ?? 0, now - removalsKeptMs) }
}
