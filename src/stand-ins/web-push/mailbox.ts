/** A message that was accepted for one subscription. */
export interface Mail {
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly expiresAt: number
  readonly ttl: number
  readonly topic?: string
  readonly body: Buffer
  /** How many of the same topic it replaced while they were kept. */
  readonly replaced: number
}

export interface Mailbox {
  /** What has not expired and its device does not have, oldest first. */
  kept(): readonly Mail[]
  /** Delivers it, or keeps it until the device is there. One that is kept under the same topic is replaced (RFC 8030 §5.4). */
  put(mail: Mail): void
  /** The device has it. */
  done(id: string): void
  /** When it is there, what has not expired is delivered (a lifetime of 0 was now or never): also what was delivered before, but not said to be done. */
  setOnline(online: boolean): void
}

/** The messages of one subscription that its device does not have yet. */
export function createMailbox(deliver: (mail: Mail) => void, now: () => number, online = true): Mailbox {
  const kept = new Map<string, Mail>()
  return {
    kept: () => [...kept.values()].filter(({ expiresAt }) => expiresAt > now()),
    put(mail) {
      const before = mail.topic && [...kept.values()].find(({ topic }) => topic === mail.topic)
      if (before) kept.delete(before.id)
      const newest = before ? { ...mail, replaced: before.replaced + 1 } : mail
      kept.set(newest.id, newest)
      if (online) deliver(newest)
    },
    done: (id) => void kept.delete(id),
    setOnline(value) {
      online = value
      if (!online) return
      for (const mail of [...kept.values()]) {
        if (mail.expiresAt <= now()) kept.delete(mail.id)
        else deliver(mail)
      }
    },
  }
}
