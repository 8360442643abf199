/** A message that was accepted for one subscription. */
export interface Mail {
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly expiresAt: number
  readonly ttl: number
  readonly topic?: string
  readonly body: Buffer
  /** How many stored messages with the same topic it has replaced. */
  readonly replaced: number
}

export interface Mailbox {
  /** The messages that have neither expired nor been acknowledged, oldest first. */
  kept(): readonly Mail[]
  /** Stores a message, and delivers it if the device is online. It replaces a stored one with the same topic (RFC 8030 §5.4). */
  put(mail: Mail): void
  /** Deletes a message that the device has confirmed. */
  acknowledge(id: string): void
  /** Back online, the device gets all stored messages that have not expired, also the messages that it did not acknowledge. */
  setOnline(online: boolean): void
}

/** Stores the messages of one subscription until its device acknowledges them. */
export function createMailbox(deliver: (mail: Mail) => void, now: () => number, online = true): Mailbox {
  const kept = new Map<string, Mail>()
  return {
    kept: () => [...kept.values()].filter(({ expiresAt }) => expiresAt > now()),
    put(mail) {
      const previous = mail.topic && [...kept.values()].find(({ topic }) => topic === mail.topic)
      if (previous) kept.delete(previous.id)
      const newest = previous ? { ...mail, replaced: previous.replaced + 1 } : mail
      kept.set(newest.id, newest)
      if (online) deliver(newest)
    },
    acknowledge: (id) => void kept.delete(id),
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
