// Our own registry of devices, the same on both sides. It stores link and unlink events from all channels, and the send path
// looks up devices in it. The rule of ownership is in ownership.ts, the SQL in tables.ts.

import { type ErasedPeople, nobodyErased } from '../../base/people/erasures.ts'
import type { Outbox } from '../../base/queue/outbox.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { gather } from '../../base/runtime/gather.ts'
import type { Database, Migration, Op, Value } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import { clampTo, justAfter, type Timestamp, timestampOf } from '../../contract/timestamp.ts'
import type { Device } from './device.ts'
import type { DeviceEvent, StampedEvent } from './device-event.ts'
import { type Change, changeOf, deviceOf, removalEvent, restoreEvent, stateOf } from './device-rows.ts'
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
} from './removals/removals.ts'
import { forgetOps, removalsKeptMs } from './retention.ts'
import { createRevocations } from './revocations.ts'
import {
  type DeviceRow,
  deviceTables,
  type OwnRow,
  proveDevicesOp,
  replacedReason,
  type StateRow,
  selectExcess,
  selectHolders,
  selectLast,
  selectOfUsers,
  selectOwn,
  selectStates,
  writeOps,
} from './tables.ts'

export const deviceMigrations: readonly Migration[] = [deviceTables, removalTables]

export interface Registry extends DeviceSource {
  /**
   * Stores events in one durable commit, together with the operations in `also`. Events may come in any order and repeatedly.
   * Two events of one device without a time must not be in one call, because only their times tell which came first.
   *
   * If a user then has more than `most` devices, the devices with the oldest links are removed.
   *
   * @param most devices per user; default: the registry's own limit
   * @returns the effect of each event, in order
   */
  storeEvents(events: readonly DeviceEvent[], also?: readonly Op[], most?: number): Promise<readonly Change[]>
  /** The devices of a user, with all stored columns. */
  list(brand: string, userId: string): Promise<readonly DeviceRow[]>
  /** All devices that the user has linked or unlinked. */
  ownRows(brand: string, userId: string): Promise<readonly OwnRow[]>
  /** Forgets these devices, unless they were linked again meanwhile. */
  forgetEnded(rows: readonly OwnRow[]): Promise<void>
  unlink(devices: readonly Device[], why: string): readonly Op[]
  markProven(devices: readonly Device[]): readonly Op[]
  /** Commits the operations of unlink(). */
  remove(devices: readonly Device[], why: string): Promise<void>
  isRevoked(device: Device): boolean
  /** Removals of the last 30 days, the oldest first. */
  listRemoved(filter: RemovalFilter, limit?: number, after?: RemovalCursor): Promise<readonly RemovalRow[]>
  /**
   * Reverses removals: links the devices again that belong to nobody because of them.
   *
   * @param also operations for each commit, which reverses this many removals
   * @returns how many devices
   */
  restore(filter: RemovalFilter, also?: (count: number) => readonly Op[]): Promise<number>
}

export interface RegistryOptions {
  readonly database: Pick<Database, 'commit' | 'read'>
  /** How long isRevoked() remembers an unlink. Must be longer than any send can take. */
  readonly rememberMs?: number
  readonly now?: () => number
  /** Other processes change the registry too: a device is read once more before a message is sent to it. */
  readonly shared?: boolean
  /** An event from before the erasure of its user is not stored. */
  readonly erased?: Pick<ErasedPeople, 'find'>
  /** Its operations are committed with the events (outbox.ts). */
  readonly outbox?: Pick<Outbox<StampedEvent>, 'publishOps'> | undefined
  /** Most devices per user. Default: 200. */
  readonly devicesPerUser?: number
}

export const devicesPerUser = 200

/**
 * Creates a registry in a database that has `deviceMigrations`.
 *
 * @example
 * const registry = createRegistry({ database })
 * const events = eventsOf(record, { what: 'link', brand: '1' })
 * if ('invalid' in events) throw new Error(events.invalid)
 * await registry.storeEvents(events)
 * await registry.findDevices('1', ['1001'], { deadline, signal })
 */
export function createRegistry(options: RegistryOptions): Registry {
  const { database, rememberMs, now = clock.now, shared = false, outbox, erased = nobodyErased } = options
  const revocations = createRevocations({ now, ...(rememberMs !== undefined && { keptMs: rememberMs }) })

  async function write(events: readonly StampedEvent[], also: readonly Op[] = []): Promise<readonly Change[]> {
    return (await writeWithLimits(events, also, [])).changes
  }

  /** @param limits rows of selectExcess */
  async function writeWithLimits(events: readonly StampedEvent[], also: readonly Op[], limits: readonly Value[][]) {
    const lookUps = events.map(({ brand, id, userId }) => [++lastTicket, brand, id, userId])
    const ops = [op(selectStates, lookUps), op(selectExcess, limits), ...writeOps(events, now()), ...also] as const
    const [rows, excess] = await database.commit(ops)
    const rowByTicket = new Map(rows.map((row) => [row.ticket, row]))
    // Several events of one device are applied one after the other.
    const states = new Map<string, TokenState>()
    const changes = events.map((event, i) => {
      const key = `${event.brand} ${event.id}`
      const stored = stateOf(event, rowByTicket.get(lookUps[i]?.[0] as number) as StateRow)
      const before = merge(states.get(key) ?? unknown, stored)
      const after = merge(before, event.what === 'link' ? linked(event) : unlinked(event.userId, event.at))
      states.set(key, after)
      return recordChange(event, before, after)
    })
    return { changes, excess }
  }

  /** Returns a row of selectExcess for each user who gets a link. */
  function limitsOf(events: readonly StampedEvent[], most: number): Value[][] {
    const users = new Map(events.filter(({ what }) => what === 'link').map((event) => [userOf(event), event]))
    return [...users.values()].map(({ brand, userId }) => [++lastTicket, brand, userId, most])
  }

  /** Removes devices by an unlink just after their link, as removeOps() does: a device with a later link stays (row 20). */
  async function removeExcess(rows: readonly DeviceRow[], most: number): Promise<void> {
    if (rows.length === 0) return
    const devices = rows.map(deviceOf)
    await write(devices.map(removalEvent), unlink(devices, `${replacedReason}the user has more than ${most} devices`))
  }

  /** Reads all devices of one event-loop turn with one query. */
  const refresh = gather<RefreshRequest>((requests) => {
    const rows = requests.map(({ device }, n) => [n, device.brand, idOf(device), device.userId])
    database.read(op(selectStates, rows)).then(
      (states) => {
        for (const row of states) recordIfRevoked((requests[row.ticket] as RefreshRequest).device, row)
        for (const { done } of requests) done()
      },
      (error: unknown) => {
        for (const { failed } of requests) failed(error)
      },
    )
  })

  function recordIfRevoked(device: Device, row: StateRow): void {
    const { brand, userId, linkedAt } = device
    const state = stateOf(device, row)
    if (owner(merge(linked(bareLink(linkedAt, userId)), state)) !== userId)
      revocations.record(brand, idOf(device), state)
  }

  function recordChange(event: StampedEvent, before: TokenState, after: TokenState): Change {
    const { what, brand, id } = event
    // No send can be in progress to a device that had no link before, so the first link or unlink of a device is not recorded.
    const moved = before.link !== undefined && before.link.userId !== after.link?.userId
    const ended = what === 'unlink' && before.link !== undefined
    if (ended || moved || revocations.isRecorded(brand, id)) revocations.record(brand, id, after)
    const change = changeOf(event, before, after)
    emitChange(event, change, before)
    return change
  }

  /**
   * Stamps the events without a time before the commit, because the outbox publishes the same time (row 20). The time is now,
   * or just after the last known event of the device, whichever is later.
   */
  async function stampAll(events: readonly DeviceEvent[]): Promise<readonly StampedEvent[]> {
    const unstamped = events.flatMap(({ at, brand, id }, i) => (at === undefined ? [[i, brand, id]] : []))
    if (unstamped.length === 0) return events as readonly StampedEvent[]
    const rows = await database.read(op(selectLast, unstamped))
    const known = new Map(rows.map(({ ticket, last }) => [ticket, last]))
    const clock = timestampOf(now())
    // Several events of one device are stamped one after the other.
    const latest = new Map<string, Timestamp>()
    return events.map((event, i) => {
      const key = `${event.brand} ${event.id}`
      const before = [latest.get(key) ?? '', known.get(i) ?? ''].sort().at(-1) as Timestamp
      const at = event.at ?? (before >= clock ? justAfter(before) : clock)
      if (at > before) latest.set(key, at)
      return { ...event, at }
    })
  }

  function isErased({ brand, userId, at }: StampedEvent): boolean {
    const person = erased.find(brand, userId)
    return person !== undefined && at <= timestampOf(person.at)
  }

  function unlink(devices: readonly Device[], why: string): readonly Op[] {
    return [...removeOps(devices, why, now()), ...(outbox?.publishOps(devices.map(removalEvent)) ?? [])]
  }

  return {
    name: 'registry',

    async findDevices(brand, userIds) {
      const rows = await database.read(op(selectOfUsers, [...new Set(userIds)], (userId) => [brand, userId]))
      return Map.groupBy(rows.map(deviceOf), ({ userId }) => userId)
    },

    async findHolders(brand, tokens) {
      const ids = new Map(tokens.map((token) => [token, deviceId(token)]))
      const rows = await database.read(op(selectHolders, [...new Set(ids.values())], (id) => [brand, id]))
      const holderOf = new Map(rows.map((row) => [row.device, row.held === 1 ? deviceOf(row) : 'nobody']))
      const found = new Map<string, Holder>()
      for (const [token, id] of ids) {
        const holder = holderOf.get(id)
        if (holder !== undefined) found.set(token, holder as Holder)
      }
      return found
    },

    isRevoked: (device) => revocations.isRevoked(device),

    ...(shared && {
      refresh: (device: Device) => new Promise<void>((done, failed) => refresh({ device, done, failed })),
    }),

    unlink,

    markProven: (devices) => [proveDevicesOp(devices)],

    async remove(devices, why) {
      await database.commit(unlink(devices, why))
    },

    async storeEvents(events, also = [], most = options.devicesPerUser ?? devicesPerUser) {
      const stamped = await stampAll(clampAll(events, now()))
      const stored = stamped.filter((event) => !isErased(event))
      const writes = outbox ? [...also, ...outbox.publishOps(stored)] : also
      const { changes, excess } = await writeWithLimits(stored, writes, limitsOf(stored, most))
      await removeExcess(excess, most)
      const changeOf = new Map(stored.map((event, i) => [event, changes[i] as Change]))
      return stamped.map((event) => changeOf.get(event) ?? 'none')
    },

    list: (brand, userId) => database.read(op(selectOfUsers, [[brand, userId]])),

    ownRows: (brand, userId) => database.read(op(selectOwn, [[brand, userId]])),

    async forgetEnded(rows) {
      await database.commit(forgetOps(rows, now() + 1))
    },

    listRemoved: (filter, limit = 100, after) => database.read(listRemovals(recent(filter, now()), limit, after)),

    async restore(filter, also = () => []) {
      let restored = 0
      for (;;) {
        const rows = await database.read(listRemovals({ ...recent(filter, now()), restorable: true }, restoreBatch))
        if (rows.length === 0) return restored
        const links = rows.map(restoreEvent)
        const ops = [restoredOp(rows, now()), ...(outbox?.publishOps(links) ?? []), ...also(rows.length)]
        const changes = await write(links, ops)
        const count = changes.filter((change) => change === 'linked').length
        restored += count
        emit('device.restored', { brand: filter.brand, count })
      }
    },
  }
}

let lastTicket = 0
const userOf = ({ brand, userId }: DeviceEvent): string => `${brand} ${userId}`

interface RefreshRequest {
  readonly device: Device
  readonly done: () => void
  readonly failed: (error: unknown) => void
}
const restoreBatch = 1_000

function emitChange({ brand, id, userId, kind, origin }: DeviceEvent, change: Change, before: TokenState): void {
  if (change === 'linked') emit('device.linked', { brand, userId, device: id, kind, origin })
  else if (change === 'unlinked') emit('device.unlinked', { brand, userId, device: id, kind, origin })
  else if (change === 'moved')
    emit('device.moved', { brand, userId, from: owner(before) as string, device: id, kind, origin })
}

/** Row 20: an event that is too far ahead of our clock gets the current time. */
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
