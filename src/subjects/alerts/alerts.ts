// Tells a person of troubles: one message when a trouble begins, one when it ends, none between.

import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { createLoop } from '../../base/runtime/loop.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
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

export function createAlerts(troubles: Troubles, { to, afterMs }: AlertOptions): Alerts {
  const reported = new Map<string, Trouble & { lastSeen: number }>()
  const pending = new Map<AlertSender, Notice[]>(to.map((sender) => [sender, []]))

  async function check(): Promise<void> {
    const found = findNotices(await troubles.current(), clock.now())
    for (const notices of pending.values()) {
      notices.push(...found)
      notices.splice(0, notices.length - mostPending)
    }
    await Promise.all(to.map(flush))
  }

  function findNotices(current: readonly Trouble[], now: number): readonly Notice[] {
    const notices: Notice[] = []
    for (const trouble of current) {
      const before = reported.get(trouble.name)
      if (!before && !trouble.urgent && now - trouble.since < afterMs) continue
      if (!before) notices.push(trouble)
      reported.set(trouble.name, { ...(before ?? trouble), lastSeen: now })
    }
    for (const [name, { lastSeen, ...trouble }] of reported) {
      if (now - lastSeen < settledMs) continue
      reported.delete(name)
      notices.push({ ...trouble, endedAt: lastSeen })
    }
    return notices
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
  const loop = createLoop({ name: 'alerts', turn })
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
