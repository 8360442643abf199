// The messages that the checker sends. Each can be recognized by its activity.id, its trigger_hash and its text.

import { clock } from '../../base/runtime/clock.ts'
import type { Json } from '../../base/runtime/json.ts'
import type { Facts, UserName } from './facts.ts'

export interface Message {
  /** The source text of activity.id. */
  readonly idJson: string
  /** The source text of the activity request record (§2.1). */
  readonly text: string
}

export interface MessageOptions {
  readonly user?: UserName
  /** The source text of activity.id; default: a new id. */
  readonly idJson?: string
  /** Members of `activity` to change, or to leave out if undefined. */
  readonly activity?: Readonly<Record<string, Json | undefined>>
  /** Members beside `activity`. */
  readonly beside?: Readonly<Record<string, Json>>
}

export interface MessageMaker {
  /** The mark of this run: part of each trigger_hash. */
  readonly mark: string
  /** The activity.id of the next message, as digits. */
  nextId(): string
  /** A number above 2^53. Two consecutive ones are equal as double-precision numbers. */
  nextLargeId(): string
  message(options?: MessageOptions): Message
}

/** The activity, action group and action of all messages. */
export const markIds = { activity_id: 990_000_001, action_group_id: 990_000_002, action_id: 990_000_003 } as const

/** @param firstId default: from the time, so that each run has its own ids */
export function createMessageMaker({ brand, users, content }: Facts, firstId?: bigint): MessageMaker {
  const startedAt = clock.now()
  const mark = startedAt.toString(36)
  let id = firstId ?? BigInt(startedAt) * 1_000n
  // Between 2^60 and 2^61 only every 256th integer is a double-precision number.
  let largeId = BigInt(startedAt) * 1_000_000n - ((BigInt(startedAt) * 1_000_000n) % 256n) + 1n
  const nextId = (): string => String(id++)
  return {
    mark,
    nextId,
    nextLargeId: () => String(largeId++),
    message({ user = 'normal', idJson = nextId(), activity = {}, beside = {} } = {}) {
      const fields = {
        user_id: users[user],
        ...markIds,
        trigger_hash: `bellwire-check-${mark}-${idJson.replaceAll('"', '')}`,
        ...activity,
      }
      const record = `{"id":${idJson},"brand_id":${brand},${membersOf(fields)}}`
      const others = membersOf({ ...content, ...beside })
      return { idJson, text: `{"activity":${record}${others === '' ? '' : `,${others}`}}` }
    },
  }
}

function membersOf(object: Readonly<Record<string, Json | undefined>>): string {
  return JSON.stringify(object).slice(1, -1)
}
