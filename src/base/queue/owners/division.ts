// Divides the lanes over the living processes. Each process looks at the rows of all processes twice a second and computes its share.
// It acquires the lanes that it lacks with one statement, and gives back the lanes that belong to another process now.

import { emit } from '../../runtime/events.ts'
import { createLoop, type Loop } from '../../runtime/loop.ts'
import type { Database, Ownership } from '../../store/database.ts'
import { brandOf } from '../lane-name.ts'
import { divisionTopic } from '../wake-topics.ts'
import { createMoveLog } from './brand-moves.ts'
import { divideLanes } from './divide-lanes.ts'
import {
  createProcessReader,
  forgetProcessOps,
  type LaneProcesses,
  ownLanesOp,
  type RegisteredProcess,
  registerOp,
  releaseLanesOp,
} from './lane-owners.ts'
import { createSweeper } from './sweeper.ts'

/** A lane as the division sees it. */
export interface DividedLane {
  readonly name: string
  /** Whether a session of the lane runs or is ending. */
  readonly busy: boolean
  /** Starts a session: this process owns the lane now. */
  begin(): void
  /** Drains and ends the session. After this time, running calls are aborted. Default: they may use their own timeout. */
  end(withinMs?: number): Promise<void>
  /** Ends the session at once: this process no longer owns the lane. */
  drop(): Promise<void>
  /** Reads items whose wake-up was lost. */
  sweep(): void
}

export interface Division {
  /** Serves the lane whenever it is in the share of this process. */
  add(lane: DividedLane): void
  /** Drains the lane within this time, and leaves it to the other processes. */
  remove(lane: DividedLane, withinMs: number): Promise<void>
  /** The number of the store to which the brand has moved. */
  movedTo(brand: string): number | undefined
}

/** A death is noticed within this time. A join and a return wake the other processes. */
const lookEveryMs = 500

/** After a power cut that loses such a row, the session of its owner has ended, too. */
const asSoonAsPossible = { durable: false, urgent: true }

interface HeldLane {
  readonly lane: DividedLane
  /** drained: its session has ended, and its row can be deleted. */
  state: 'serving' | 'draining' | 'drained'
}

/** The period in which this process has one session at the store. */
interface Membership {
  readonly owner: string
  readonly ownership: Ownership
  /** The version of the list of lanes that is registered. 0: none is. */
  registered: number
  /** The lanes whose rows belong to this process. */
  readonly held: Map<string, HeldLane>
}

export function createDivision(database: Database): Division {
  /** The lanes that this process can serve. */
  const lanes = new Map<string, DividedLane>()
  let version = 0
  let removals = 0
  let membership: Membership | undefined
  let loops: { readonly look: Loop; readonly sweeper: Loop; readonly unlisten: () => void } | undefined
  /** The end of the membership before. */
  let stopping: Promise<void> = Promise.resolve()
  const readProcesses = createProcessReader(database)
  let division = { versions: '', owners: divideLanes([]) }
  /** Brands that are being moved, or have moved, to another store. */
  let frozen: ReadonlyMap<string, LaneProcesses['frozen'][number]> = new Map()
  const logMoves = createMoveLog()

  async function look(): Promise<number> {
    membership ??= await join()
    if (!membership) return lookEveryMs
    const member = membership
    await writeChanges(member)
    const { frozen: moves, living, ended } = await readProcesses(member.owner)
    frozen = new Map(moves.map((each) => [each.brand, each]))
    reportMoves(moves)
    const owners = divide(living)
    const acquired = await acquire(member, owners, ended)
    const returned = returnLanes(member, owners)
    if (acquired + returned > 0)
      emit('lanes.divided', { processes: living.length, owned: member.held.size - returned, acquired, returned })
    // A SQLite file has one process.
    return database.engine === 'sqlite' ? Number.POSITIVE_INFINITY : lookEveryMs
  }

  /** One lock for the process, not for each lane: its loss shows that the session has ended. */
  async function join(): Promise<Membership | undefined> {
    const { owner } = database
    const ownership = await database.own(`lanes of ${owner}`)
    if (!ownership || ownership.lost.aborted) return undefined
    const member: Membership = { owner, ownership, registered: 0, held: new Map() }
    ownership.lost.addEventListener('abort', () => void dropLanes(member), { once: true })
    return member
  }

  async function dropLanes({ held }: Membership): Promise<void> {
    membership = undefined
    await Promise.all([...held.values()].map(({ lane }) => lane.drop()))
    loops?.look.wake()
  }

  /** Registers the lanes of this process if they have changed, and releases the drained lanes. */
  async function writeChanges(member: Membership): Promise<void> {
    const { owner, held } = member
    const current = version
    const register = member.registered === current ? [] : [registerOp(owner, current, [...lanes.keys()])]
    const drained = [...held].filter(([, { state }]) => state === 'drained').map(([name]) => name)
    if (register.length + drained.length === 0) return
    const ops = [...register, releaseLanesOp(owner, drained), database.wake(divisionTopic)]
    await database.commit(ops, asSoonAsPossible)
    member.registered = current
    for (const name of drained) held.delete(name)
  }

  function divide(living: readonly RegisteredProcess[]): ReadonlyMap<string, string> {
    const versions = living.map((each) => `${each.owner} ${each.version}`).join()
    if (division.versions !== versions) division = { versions, owners: divideLanes(living) }
    return division.owners
  }

  function reportMoves(moves: LaneProcesses['frozen']): void {
    const served = new Set([...lanes.keys()].map(brandOf))
    logMoves(moves.filter(({ brand }) => served.has(brand)))
  }

  const isFrozen = (lane: string): boolean => frozen.size > 0 && frozen.has(brandOf(lane))

  /** Acquires the missing lanes of this process that have no owner, or whose owner has ended. @returns their number */
  async function acquire(
    { owner, ownership, held }: Membership,
    owners: ReadonlyMap<string, string>,
    ended: readonly string[],
  ): Promise<number> {
    const missing = [...lanes.values()].filter(
      ({ name, busy }) => owners.get(name) === owner && !busy && !held.has(name) && !isFrozen(name),
    )
    const names = missing.map(({ name }) => name)
    if (names.length + ended.length === 0) return 0
    const [rows] = await database.commit([ownLanesOp(owner, names), ...forgetProcessOps(ended)], asSoonAsPossible)
    if (ownership.lost.aborted || rows.length === 0) return 0
    const acquired = new Set(rows.map(({ lane }) => lane))
    for (const lane of missing.filter(({ name }) => acquired.has(name))) {
      // The lane may have been removed meanwhile.
      const serves = lanes.get(lane.name) === lane
      held.set(lane.name, { lane, state: serves ? 'serving' : 'drained' })
      if (serves) lane.begin()
      else loops?.look.wake()
    }
    loops?.sweeper.wake()
    return acquired.size
  }

  /** Gives back the lanes that belong to another process now, or to no process. @returns their number */
  function returnLanes({ owner, held }: Membership, owners: ReadonlyMap<string, string>): number {
    const surplus = [...held.values()].filter(
      ({ lane, state }) =>
        state === 'serving' && lanes.has(lane.name) && (owners.get(lane.name) !== owner || isFrozen(lane.name)),
    )
    for (const each of surplus) void drain(each)
    return surplus.length
  }

  async function drain(each: HeldLane, withinMs?: number): Promise<void> {
    each.state = 'draining'
    await each.lane.end(withinMs)
    each.state = 'drained'
    loops?.look.wake()
  }

  function start(): void {
    loops = {
      look: createLoop('dividing the lanes', look),
      sweeper: createSweeper(database, (name) => membership?.held.get(name)?.lane.sweep()),
      unlisten: database.onWake(divisionTopic, () => loops?.look.wake()),
    }
    const { look: first, sweeper } = loops
    void stopping.then(() => {
      first.start()
      sweeper.start()
    })
  }

  async function stop({ look, sweeper, unlisten }: NonNullable<typeof loops>): Promise<void> {
    loops = undefined
    unlisten()
    await Promise.all([look.stop(), sweeper.stop()])
    if (!membership) return
    const { owner, ownership } = membership
    membership = undefined
    // If this fails, another process deletes the rows as soon as the session has ended.
    await database
      .commit([...forgetProcessOps([owner]), database.wake(divisionTopic)], asSoonAsPossible)
      .catch(() => {})
    await ownership.release()
  }

  return {
    add(lane) {
      if (lanes.has(lane.name)) throw new Error(`The lane ${lane.name} is already served by this process`)
      lanes.set(lane.name, lane)
      version++
      if (loops) loops.look.wake()
      else start()
    },
    movedTo(brand) {
      const move = frozen.get(brand)
      return move?.state === 'moved' ? move.other : undefined
    },
    async remove(lane, withinMs) {
      if (lanes.get(lane.name) !== lane) return
      lanes.delete(lane.name)
      version++
      removals++
      loops?.look.wake()
      const held = membership?.held.get(lane.name)
      await (held?.lane === lane ? drain(held, withinMs) : lane.end(withinMs))
      removals--
      if (!loops || lanes.size + removals > 0) return
      stopping = stop(loops)
      await stopping
    },
  }
}
