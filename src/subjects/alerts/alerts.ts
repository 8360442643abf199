// Tells a person of troubles: one message when a trouble begins, one when it ends, none between.

import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { createLoop } from '../../base/runtime/loop.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { ownReports, type Report, type Reports } from './reports.ts'
import type { Trouble } from './trouble.ts'
import type { Troubles } from './troubles.ts'

/** The beginning of a trouble, or its end. */
export interface Notice extends Trouble {
  /** Epoch milliseconds. Undefined: it lasts. */
  readonly endedAt?: number
}

/** Sends notices to a person. */
export interface AlertSender {
  /** The name in the log. It contains no secret. */
  readonly name: string
  /** @param notices several at once, if they arose together. Rejects if they were not accepted: they are sent again later */
  send(notices: readonly Notice[], withinMs: number): Promise<void>
  close(): Promise<void>
}

export interface AlertOptions {
  readonly to: readonly AlertSender[]
  /** How long a trouble lasts before it is reported, unless a person has to act. */
  readonly afterMs: number
}

const everyMs = 15_000
const sendWithinMs = 10_000
/** A trouble that comes back within this time has not ended. */
const settledMs = 60_000
/** The most notices that wait for an address that is away. The oldest are dropped. */
const mostPending = 200

export interface Alerts {
  start(): void
  /** Reads the troubles, and sends the notices that are due. */
  check(): Promise<void>
  stop(): Promise<void>
}

export function createAlerts(troubles: Troubles, { to, afterMs }: AlertOptions, stored = ownReports()): Alerts {
  const own = ownReports()
  const pending = new Map<AlertSender, Notice[]>(to.map((sender) => [sender, []]))
  /** The reports of the store as they were read last. */
  let known: readonly Report[] = []
  /** The last change of the beat of each report, as this process saw it, and the turns since then. */
  const seen = new Map<string, { readonly beat: number; readonly at: number; turns: number }>()

  async function check(): Promise<void> {
    const found = await findNotices(await troubles.current(), clock.now())
    for (const notices of pending.values()) {
      notices.push(...found)
      notices.splice(0, notices.length - mostPending)
    }
    await Promise.all(to.map(flush))
  }

  async function findNotices(current: readonly Trouble[], now: number): Promise<readonly Notice[]> {
    const names = current.map(({ name }) => name)
    const canStore = await stored.renew(names).then(
      (reports) => {
        known = reports
        return true
      },
      () => false,
    )
    const [ofStore, ofProcess] = [known, await own.renew(names)]
    const reported = new Set([...ofStore, ...ofProcess].map(({ name }) => name))
    const due = current.filter(({ name, urgent, since }) => !reported.has(name) && (urgent || now - since >= afterMs))
    const begun = canStore ? await beginStored(due) : await own.begin(due)
    for (const { name } of due) seen.set(name, { beat: 0, at: now, turns: 0 })
    return [
      ...due.filter(({ name }) => begun.has(name)),
      ...(canStore ? await endOld(stored, ofStore, now) : []),
      ...(await endOld(own, ofProcess, now)),
    ]
  }

  async function beginStored(due: readonly Trouble[]): Promise<ReadonlySet<string>> {
    try {
      const begun = await stored.begin(due)
      known = [...known, ...due.map((trouble) => ({ ...trouble, beat: 0 }))]
      return begun
    } catch {
      return own.begin(due)
    }
  }

  /** Ends the reports of troubles that no process has any more. */
  async function endOld(reports: Reports, all: readonly Report[], now: number): Promise<readonly Notice[]> {
    const ended: Notice[] = []
    for (const report of all) {
      const { name, beat, ...trouble } = report
      const before = seen.get(name)
      if (before?.beat !== beat) {
        seen.set(name, { beat, at: now, turns: 0 })
        continue
      }
      // After a suspension of the machine, another process may only be late: it has a turn to renew the report.
      if (before.turns++ > 0 && now - before.at >= settledMs && (await reports.end(report).catch(() => false))) {
        seen.delete(name)
        ended.push({ ...trouble, name, urgent: false, endedAt: before.at })
      }
    }
    return ended
  }

  async function flush(sender: AlertSender): Promise<void> {
    const notices = pending.get(sender) ?? []
    const sent = [...notices]
    if (sent.length === 0) return
    try {
      await sender.send(sent, sendWithinMs)
      notices.splice(0, sent.length)
    } catch (error) {
      emit('alerts.failed', { to: sender.name, notices: sent.length, error: messageOf(error) })
    }
  }

  const turn = async (): Promise<number> => {
    await check()
    return everyMs
  }
  const loop = createLoop('alerts', turn)
  return {
    start: () => loop.start(),
    check,
    async stop() {
      await loop.stop()
      troubles.stop()
      await Promise.all(to.map((sender) => sender.close()))
    },
  }
}
