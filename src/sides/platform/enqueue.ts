// Enqueues activity request records from JSON or from an NDJSON stream of any length into the lanes of their brands.

import { HttpError } from '../../base/http/http.ts'
import { blocks, longestLine } from '../../base/http/lines.ts'
import { laneName } from '../../base/queue/lane-name.ts'
import type { EnqueuedItem, NewItem, QueueInput } from '../../base/queue/queue.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { push } from '../../base/runtime/ranges.ts'
import { type Activity, readBatch, readLines, readSingle } from '../../contract/read-activity.ts'
import type { EnqueueAnswer, EnqueueRequest } from '../admin/enqueue.ts'
import { traceEnqueue } from './lane-spans.ts'
import { type RecordRules, toNewItem } from './new-item.ts'

export interface EnqueueOptions extends EnqueueRequest {
  readonly queue: QueueInput
  /** The settings of a lane. Undefined: no lane has this name. */
  readonly rulesOf: (lane: string) => RecordRules | undefined
}

const maxRefusedListed = 1_000

/** Enqueues the records of a body: JSON, or a stream with one record per line. */
export const enqueueBody = (body: Buffer | AsyncIterable<Buffer>, options: EnqueueOptions): Promise<EnqueueAnswer> =>
  Buffer.isBuffer(body) ? enqueueJson(body, options) : enqueueStream(body, options)

/** Enqueues a JSON body: one record or an array of records. */
async function enqueueJson(body: Buffer, options: EnqueueOptions): Promise<EnqueueAnswer> {
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
async function enqueueStream(stream: AsyncIterable<Buffer>, options: EnqueueOptions): Promise<EnqueueAnswer> {
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
  { queue, channel, key, traceparent, rulesOf }: EnqueueOptions,
  answer: EnqueueAnswer,
): Promise<void> {
  const itemsByLane = new Map<string, NewItem[]>()
  const positions: { lane: string; index: number }[] = []
  const now = clock.now()
  for (const { item: record, line } of records) {
    const read = toLaneItem(record, { channel, sender: key, rulesOf, now })
    if ('invalid' in read) {
      answer.refused_count++
      if (answer.refused.length < maxRefusedListed) answer.refused.push({ line, error: read.invalid })
      continue
    }
    const { lane, item } = read
    const items = itemsByLane.get(lane) ?? []
    if (items.length === 0) itemsByLane.set(lane, items)
    positions.push({ lane, index: items.length })
    items.push(traceparent === undefined ? item : { ...item, traceparent })
  }
  const enqueuedByLane = new Map<string, readonly EnqueuedItem[]>()
  await Promise.all(
    [...itemsByLane].map(async ([lane, items]) => {
      enqueuedByLane.set(lane, await enqueueMessages(queue, lane, items))
    }),
  )
  for (const { lane, index } of positions) {
    const { seq, isNew } = (enqueuedByLane.get(lane) as readonly EnqueuedItem[])[index] as EnqueuedItem
    if (isNew) answer.accepted++
    else answer.repeated++
    push(answer.seqs, seq)
  }
}

/** Stores items in a lane, and reports them to the metrics. */
export async function enqueueMessages(
  queue: QueueInput,
  lane: string,
  items: readonly NewItem[],
): Promise<readonly EnqueuedItem[]> {
  const traced = traceEnqueue(lane, items)
  const enqueued = await queue.enqueue(lane, traced.items).finally(traced.end)
  const accepted = enqueued.filter(({ isNew }) => isNew).length
  emit('queue.enqueued', { lane, accepted, repeated: enqueued.length - accepted })
  return enqueued
}

/** Who sends records: an API key, or a queue or topic. */
export interface Sender {
  readonly name: string
  /** The brands of its records. Undefined: all. */
  readonly brands?: readonly string[] | undefined
}

export interface LaneItem {
  readonly lane: string
  readonly item: NewItem
}

interface EnqueueContext extends Pick<EnqueueOptions, 'channel' | 'rulesOf'> {
  readonly sender: Sender
  readonly now: number
}

/** The item of a record, and its lane. `invalid`: why the record is refused. */
export function toLaneItem(
  record: Activity | { readonly invalid: string },
  { channel, sender, rulesOf, now }: EnqueueContext,
): LaneItem | { readonly invalid: string } {
  if ('invalid' in record) return record
  const { brandId: brand } = record
  if (sender.brands && !sender.brands.includes(brand))
    return { invalid: `the sender ${sender.name} may not enqueue for brand ${brand}` }
  const lane = laneName(brand, channel)
  const rules = rulesOf(lane)
  if (!rules) return { invalid: `no lane serves brand ${brand} on ${channel}: add it to platform.lanes` }
  const item = toNewItem(record, { rules, keyName: sender.name, now })
  return 'invalid' in item ? item : { lane, item }
}

const emptyAnswer = (): EnqueueAnswer => ({ accepted: 0, repeated: 0, refused_count: 0, refused: [], seqs: [] })

function firstByte(body: Buffer): number | undefined {
  return body.find((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)
}
