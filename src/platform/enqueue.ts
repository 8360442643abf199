// Enqueueing: activity request records come in as JSON or as NDJSON of any length, and wait in their brand's lane.

import { type Static, Type } from 'typebox'
import { refusedLines, whole } from '../contract/documents/described.ts'
import { messageKey } from '../contract/message-key.ts'
import { type Activity, readBatch, readLines, readSingle } from '../contract/read-activity.ts'
import type { AccessKey } from '../http/access.ts'
import { HttpError } from '../http/http.ts'
import { blocks, longestLine } from '../http/lines.ts'
import type { Channel } from '../providers/provider.ts'
import type { Queue } from '../queue/queue.ts'
import { emit } from '../runtime/events.ts'

export const EnqueueAnswer = Type.Object({
  accepted: whole(),
  repeated: whole('Put before; nothing was done'),
  refused_count: whole(),
  refused: refusedLines,
  seqs: Type.Array(Type.Tuple([whole(), whole()]), {
    description: 'First and last of each range of numbers, in the order of the lines, for accepted and repeated ones',
  }),
})
export type EnqueueAnswer = Static<typeof EnqueueAnswer>

export interface Enqueue {
  readonly queue: Queue
  readonly channel: Channel
  readonly key: AccessKey
  /** Whether a lane serves this brand and channel. */
  readonly hasLane: (lane: string) => boolean
}

const refusedListed = 1_000

/** One record, or an array of them. */
export async function enqueueJson(body: Buffer, enqueue: Enqueue): Promise<EnqueueAnswer> {
  const answer = emptyAnswer()
  const first = firstByte(body)
  if (first === 0x5b /* [ */) {
    const read = readBatch(body)
    if ('invalid' in read) throw new HttpError(read.status, read.invalid)
    await putAll(
      read.items.map((item, i) => ({ item, line: i + 1 })),
      enqueue,
      answer,
    )
  } else {
    const item = readSingle(body)
    if ('invalid' in item) throw new HttpError(400, item.invalid)
    await putAll([{ item, line: 1 }], enqueue, answer)
  }
  return answer
}

/** A stream of records, one in a line. Memory is bounded, and the sender is slowed to the speed of the store. */
export async function enqueueStream(stream: AsyncIterable<Buffer>, enqueue: Enqueue): Promise<EnqueueAnswer> {
  const answer = emptyAnswer()
  let line = 0
  let putting: Promise<void> = Promise.resolve()
  for await (const block of blocks(stream)) {
    const read: Numbered[] = []
    if ('tooLong' in block)
      read.push({ item: { invalid: `the line is longer than ${longestLine} bytes` }, line: ++line })
    else {
      for (const item of readLines(block.lines)) {
        line++
        if (item) read.push({ item, line })
      }
    }
    // One block is written while the next is read; each is durable by itself, so that a stream cut anywhere can be sent again.
    await putting
    putting = putAll(read, enqueue, answer)
    putting.catch(() => {}) // seen at the next await
  }
  await putting
  return answer
}

interface Numbered {
  readonly item: Activity | { readonly invalid: string }
  readonly line: number
}

async function putAll(
  read: readonly Numbered[],
  { queue, channel, key, hasLane }: Enqueue,
  answer: EnqueueAnswer,
): Promise<void> {
  const lanes = new Map<string, { key: string; text: string }[]>()
  const order: { lane: string; index: number }[] = []
  for (const { item, line } of read) {
    const error = 'invalid' in item ? item.invalid : refuseBrand(item.brandId, channel, key, hasLane)
    if ('invalid' in item || error !== undefined) {
      answer.refused_count++
      if (answer.refused.length < refusedListed) answer.refused.push({ line, error: error as string })
      continue
    }
    const lane = laneName(item.brandId, channel)
    const items = lanes.get(lane) ?? []
    if (items.length === 0) lanes.set(lane, items)
    order.push({ lane, index: items.length })
    items.push({ key: messageKey(channel, item), text: item.text })
  }
  const put = new Map<string, readonly { seq: number; fresh: boolean }[]>()
  await Promise.all(
    [...lanes].map(async ([lane, items]) => {
      const results = await queue.enqueue(lane, items)
      put.set(lane, results)
      const accepted = results.filter((r) => r.fresh).length
      emit('queue.put', { lane, accepted, repeated: results.length - accepted })
    }),
  )
  for (const { lane, index } of order) {
    const { seq, fresh } = (put.get(lane) as readonly { seq: number; fresh: boolean }[])[index] as {
      seq: number
      fresh: boolean
    }
    if (fresh) answer.accepted++
    else answer.repeated++
    const last = answer.seqs.at(-1)
    if (last && last[1] + 1 === seq) last[1] = seq
    else answer.seqs.push([seq, seq])
  }
}

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
