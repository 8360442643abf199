// The first status of a message: the outcome of its send, with the meta of its request.

import { clock } from '../../base/runtime/clock.ts'
import type { ContentMapping } from '../../contract/content.ts'
import type { Channel } from '../../contract/endpoints.ts'
import { memberTexts } from '../../contract/members.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { sourceOf } from '../../contract/source.ts'
import type { MessageStatus } from '../../contract/status.ts'
import { requestMeta, statusMeta } from '../../contract/status-meta.ts'
import { type Timestamp, timestampOf } from '../../contract/timestamp.ts'
import type { FirstStatus } from './recorder.ts'

/** A message, as far as its status needs it. */
export interface SentMessage {
  readonly brand: string
  readonly channel: Channel
  readonly userId: string
  readonly ref: string
  /** The request element, byte for byte. */
  readonly text: string
  /** The batch request of the message. Absent for a single request. */
  readonly part?: { readonly of: { readonly single?: true } } | undefined
  readonly context: { readonly tracking?: Readonly<Record<string, string>> }
}

/** The first statuses of messages that are settled now. */
export function firstStatuses(
  settled: readonly { readonly message: SentMessage; readonly result: Outcome }[],
  success: 'sent' | 'delivered',
  meta?: ContentMapping['meta'],
): readonly FirstStatus[] {
  const at = timestampOf(clock.now())
  return settled.flatMap(({ message, result }) => outcomeStatus(message, result, at, success, meta) ?? [])
}

/**
 * @param success the status of a message that was delivered: `delivered` if it is in the inbox of this side, else `sent`
 * @returns undefined for a fatal message: it is sent again
 */
export function outcomeStatus(
  message: SentMessage,
  outcome: Outcome,
  at: Timestamp,
  success: 'sent' | 'delivered',
  meta: ContentMapping['meta'] = '/meta',
): FirstStatus | undefined {
  if (outcome.category === 'fatal') return undefined
  const { brand, channel, userId, ref } = message
  const status: MessageStatus =
    outcome.category === 'successful' ? success : outcome.reason === 'expired' ? 'expired' : 'failed'
  return { brand, channel, userId, ref, status, at, meta: metaOf(message, [meta].flat()) }
}

/** Row 25. The tracking headers of a batch belong to no single message, so they are left out. */
function metaOf({ text, part, context: { tracking } }: SentMessage, pointers: readonly string[]): string {
  const members = memberTexts(sourceOf(text))
  const isSingle = part === undefined || part.of.single === true
  return statusMeta({
    activity: members.get('activity') ?? '',
    headers: isSingle && tracking ? JSON.stringify(tracking) : undefined,
    meta: requestMeta(members, pointers),
  })
}
