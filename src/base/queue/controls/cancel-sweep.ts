// Examines all waiting items of a lane for a cancellation. It adds the selected items to the lane's buffer, which sets them aside to
// be settled as cancelled. Only the owner does that, in the loop that reads items.

import type { Database } from '../../store/database.ts'
import type { LaneBuffer } from '../lane/buffer.ts'
import type { BufferedItem } from '../lane/buffered-item.ts'
import { toBufferedItem, type WaitingKey } from '../lane/read-waiting.ts'
import type { LaneReader } from '../lane/reader.ts'
import { endCancellation, findCancellation } from './cancellations.ts'
import { beforeAll, findWaiting, readWaitingPage, type WaitingItem, waitingPageRows } from './waiting-pages.ts'
import type { Cancellation } from './waiting-selection.ts'

export interface CancelSweep {
  /** Whether a cancellation is not done yet. */
  readonly active: boolean
  /** Examines one page. @returns whether the next page can be examined now */
  step(): Promise<boolean>
}

export interface CancelSweepOptions {
  readonly database: Database
  readonly lane: string
  readonly buffer: Pick<LaneBuffer, 'add' | 'has'>
  readonly reader: Pick<LaneReader, 'noteSwept'>
  /** The cancellations that are not done. The buffer sets aside what they select. */
  readonly cancellations: () => readonly Cancellation[]
  /** Called when a cancellation is done. */
  readonly onDone: () => void
}

interface Pass {
  readonly cancellation: Cancellation
  cursor: WaitingKey
  /** A selected item was waiting, so another pass must confirm that none is left. */
  found: boolean
  complete: boolean
}

/** The sweep waits while this many of the items that it found are not settled. */
const maxUnsettled = 4_000

export function createCancelSweep(options: CancelSweepOptions): CancelSweep {
  const { database, lane, buffer, reader, cancellations, onDone } = options
  let pass: Pass | undefined
  /** Done, but perhaps still in the list of cancellations. */
  const done = new Set<string>()
  /** Selected items in the buffer: set aside, in a running call, or not settled yet. */
  let unsettled = new Set<number>()

  const findNext = (): Cancellation | undefined => cancellations().find(({ id }) => !done.has(id))

  async function step(): Promise<boolean> {
    const cancellation = pass?.cancellation ?? findNext()
    if (!cancellation) return false
    pass ??= { cancellation, cursor: beforeAll, found: false, complete: false }
    unsettled = new Set([...unsettled].filter(buffer.has))
    if (!pass.complete) return unsettled.size < maxUnsettled && (await examinePage(pass))
    // Selected items in running calls may succeed, or return and be cancelled.
    if (unsettled.size > 0) return false
    const { found } = pass
    pass = undefined
    if (found) return true
    await endCancellation(database, cancellation)
    done.add(cancellation.id)
    onDone()
    return true
  }

  async function examinePage(current: Pass): Promise<boolean> {
    const rows = await readWaitingPage(database, lane, current.cursor)
    const selected = rows.filter((row) => findCancellation([current.cancellation], toItem(lane, row)))
    for (const { seq } of selected) if (buffer.has(seq)) unsettled.add(seq)
    // An item that left the buffer during the read may be settled: its row is read again. Only items in the buffer are settled.
    const others = selected.filter(({ seq }) => !buffer.has(seq))
    const waiting = await findWaiting(database, lane, others)
    const missing = others.filter(({ seq }) => waiting.has(seq))
    reader.noteSwept(missing)
    buffer.add(missing.map((row) => toItem(lane, row)))
    for (const seq of waiting) unsettled.add(seq)
    current.found ||= selected.length > 0
    current.complete = rows.length < waitingPageRows
    const last = rows.at(-1)
    if (last) current.cursor = { due_at: last.due_at, seq: last.seq }
    return true
  }

  return {
    get active() {
      return pass !== undefined || findNext() !== undefined
    },
    step,
  }
}

/** An item without its text: it is only settled. */
const toItem = (lane: string, row: WaitingItem): BufferedItem =>
  toBufferedItem(lane, { ...row, text: '', traceparent: null, expires_at: null, transactional: null })
