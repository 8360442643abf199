import type { Channel, Sample } from './records.ts'

/**
 * kept: its push service has it, and the device is away. replaced: while the device was away, newer ones took its place, as
 * with Apple, who keeps one. refused: the operator will not deliver it. failed: the platform gave up sending it.
 */
export type State = 'waiting' | 'arrived' | 'kept' | 'replaced' | 'refused' | 'failed' | 'unreadable'

/** What became of one message, for the terminal and for the page. */
export interface Entry {
  readonly key: string
  readonly channel: Channel
  readonly brand: string
  readonly brand_name: string
  readonly user_id: string
  readonly name: string
  readonly title: string
  /** When the platform had it, epoch milliseconds. */
  readonly at: number
  state: State
  /** From the platform's queue to the operator's answer. */
  ms?: number
  note?: string
  /** A push that was taken: on which devices it is, and for which it waits. */
  where?: string
  seq?: number
  ref?: string
}

let count = 0

/** At the start of its way. */
export function entryOf({ channel, brand, person, words }: Sample, at: number): Entry {
  return {
    key: `${channel}-${++count}`,
    channel,
    brand: brand.id,
    brand_name: brand.name,
    user_id: person.id,
    name: person.name,
    title: words.title,
    at,
    state: 'waiting',
  }
}

/** What the platform could not read: it stands in this line of what was sent. */
export function nobody(channel: Channel, at: number, line: number): Entry {
  return {
    key: `${channel}-${++count}`,
    channel,
    brand: '',
    brand_name: 'line',
    user_id: String(line),
    name: 'A record without a user',
    title: 'For whom?',
    at,
    state: 'unreadable',
  }
}
