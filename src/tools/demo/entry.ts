import type { Channel, Sample } from './records.ts'

/**
 * kept: the push service stores the push, because the device is offline. replaced: a newer push replaced it while the device was
 * offline (Apple stores only one). refused: the operator refused to deliver it. failed: the platform gave up sending it. cancelled: a
 * person cancelled it.
 */
export type State = 'waiting' | 'arrived' | 'kept' | 'replaced' | 'refused' | 'failed' | 'cancelled' | 'unreadable'

/** The state of one message, for the terminal and the page. */
export interface Entry {
  readonly key: string
  readonly channel: Channel
  readonly brand: string
  readonly brand_name: string
  readonly user_id: string
  readonly name: string
  readonly title: string
  /** When the message was sent to the platform, in epoch milliseconds. */
  readonly at: number
  /** The message is of the campaign. */
  readonly campaign?: true
  state: State
  /** Time from the platform's queue to the operator's answer. */
  ms?: number
  note?: string
  /** For an accepted push: the devices that show it, and the devices that are offline. */
  where?: string
  seq?: number
  ref?: string
}

let count = 0

/** The entry of a message that was just sent. */
export function entryOf({ channel, brand, person, words, campaign }: Sample, at: number): Entry {
  return {
    key: `${channel}-${++count}`,
    channel,
    brand: brand.id,
    brand_name: brand.name,
    user_id: person.id,
    name: person.name,
    title: words.title,
    at,
    ...(campaign && { campaign }),
    state: 'waiting',
  }
}

/** The entry of a record that the platform could not read, with its line number. */
export function unreadableEntry(channel: Channel, at: number, line: number): Entry {
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
