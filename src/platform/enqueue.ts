// Enqueues activity request records from JSON or from an NDJSON stream of any length into the lanes of their brands.

import { type Static, Type } from 'typebox'
import { refusedLines, whole } from '../contract/documents/described.ts'
import { messageKey } from '../contract/message-key.ts'
import { type Activity, readBatch, readLines, readSingle } from '../contract/read-activity.ts'
import type { AccessKey } from '../http/access.ts'
import { HttpError } from '../http/http.ts'
import { blocks, longestLine } from '../http/lines.ts'
import type { Channel } from '../providers/provider.ts'
import type { EnqueuedItem, NewItem, Queue } from '../queue/queue.ts'
import { emit } from '../runtime/events.ts'

export const EnqueueAnswer = Type.Object({
  accepted: whole(),
  repeated: whole('EnqueuedItem before; nothing was done'),
  refused_count: whole(),
  refused: refusedLines,
  seqs: Type.Array(Type.Tuple([whole(), whole()]), {
    description:
      'The numbers of accepted and repeated records, in the order of the lines: first and last number of each range',
  }),
})
export type EnqueueAnswer = Static<typeof EnqueueAnswer>

export interface EnqueueOptions {
  readonly queue: Queue
  readonly channel: Channel
  readonly key: AccessKey
  /** Whether a lane serves this brand and channel. */
  readonly hasLane: (lane: string) => boolean
}

const maxRefusedListed = 1_000

/** Enqueues a JSON body: one record or an array of records. */
export async function enqueueJson(body: Buffer, options: EnqueueOptions): Promise<EnqueueAnswer> {
  const answer = emptyAnswer()
  const first = firstByte(body)
  if (first === 0x5b /* [ */) {
    const read = readBatch(body)
    if ('invalid' in read) throw new HttpError(read.status, read.invalid)
    await enqueueRecords(
      read.items.map((item, i) => ({ item, line: i + 1 })),
      options,
      answer,
    )
  } else {
    const item = readSingle(body)
    if ('invalid' in item) throw new HttpError(400, item.invalid)
    await enqueueRecords([{ item, line: 1 }], options, answer)
  }
  return answer
}

/** Enqueues a stream with one record per line. Memory is bounded: the sender is slowed down to the speed of the store. */
export async function enqueueStream(stream: AsyncIterable<Buffer>, options: EnqueueOptions): Promise<EnqueueAnswer> {
  const answer = emptyAnswer()
  let line = 0
  let enqueueing: Promise<void> = Promise.resolve()
  for await (const block of blocks(stream)) {
    const records: NumberedRecord[] = []
    if ('tooLong' in block)
      records.push({ item: { invalid: `the line is longer than ${longestLine} bytes` }, line: ++line })
    else {
      for (const item of readLines(block.lines)) {
        line++
        if (item) records.push({ item, line })
      }
    }
    // One block is stored while the next is read. Each block is durable by itself, so an interrupted stream can be sent again.
    await enqueueing
    enqueueing = enqueueRecords(records, options, answer)
    enqueueing.catch(() => {}) // an error is thrown by the next await
  }
  await enqueueing
  return answer
}

interface NumberedRecord {
  readonly item: Activity | { readonly invalid: string }
  readonly line: number
}

async function enqueueRecords(
  records: readonly NumberedRecord[],
  { queue, channel, key, hasLane }: EnqueueOptions,
  answer: EnqueueAnswer,
): Promise<void> {
  const itemsByLane = new Map<string, NewItem[]>()
  const positions: { lane: string; index: number }[] = []
  for (const { item, line } of records) {
    const error = 'invalid' in item ? item.invalid : refuseBrand(item.brandId, channel, key, hasLane)
    if ('invalid' in item || error !== undefined) {
      answer.refused_count++
      if (answer.refused.length < maxRefusedListed) answer.refused.push({ line, error: error as string })
      continue
    }
    const lane = laneName(item.brandId, channel)
    const items = itemsByLane.get(lane) ?? []
    if (items.length === 0) itemsByLane.set(lane, items)
    positions.push({ lane, index: items.length })
    items.push({ key: messageKey(channel, item), text: item.text })
  }
  const enqueuedByLane = new Map<string, readonly EnqueuedItem[]>()
  await Promise.all(
    [...itemsByLane].map(async ([lane, items]) => {
      const enqueued = await queue.enqueue(lane, items)
      enqueuedByLane.set(lane, enqueued)
      const accepted = enqueued.filter(({ isNew }) => isNew).length
      emit('queue.put', { lane, accepted, repeated: enqueued.length - accepted })
    }),
  )
  for (const { lane, index } of positions) {
    const { seq, isNew } = (enqueuedByLane.get(lane) as readonly EnqueuedItem[])[index] as EnqueuedItem
    if (isNew) answer.accepted++
    else answer.repeated++
    const last = answer.seqs.at(-1)
    if (last && last[1] + 1 === seq) last[1] = seq
    else answer.seqs.push([seq, seq])
  }
}

/** @returns why this key may not enqueue for the brand, or undefined if it may */
function refuseBrand(
  brand: string,
  channel: Channel,
  key: AccessKey,
  hasLane: (lane: string) => boolean,
): string | undefined {
  if (key.brands && !key.brands.includes(brand)) return `the key ${key.name} may not enqueue for brand ${brand}`
  if (!hasLane(laneName(brand, channel))) return `no lane serves brand ${brand} on ${channel}: add it to platform.lanes`
  return undefined
}

export const laneName = (brand: string, channel: Channel): string => `${brand}/${channel}`

const emptyAnswer = (): EnqueueAnswer => ({ accepted: 0, repeated: 0, refused_count: 0, refused: [], seqs: [] })

function firstByte(body: Buffer): number | undefined {
  return body.find((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)
}
