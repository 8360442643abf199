// Enqueues activity request records from queues of RabbitMQ and topics of Kafka. A message is acknowledged after its record is
// durable in its lane. Delivered again, it has the key of the earlier item (row 29) and is not stored again.

import type { Received } from '../../base/brokers/consumer.ts'
import { createMessageIntake, type MessageIntake, noBrand } from '../../base/brokers/message-intake.ts'
import type { Reading } from '../../base/brokers/take-messages.ts'
import type { Queue } from '../../base/queue/queue.ts'
import { clock } from '../../base/runtime/clock.ts'
import type { Database, Op } from '../../base/store/database.ts'
import { isChannel } from '../../contract/endpoints.ts'
import { readSingle } from '../../contract/read-activity.ts'
import type { Channel } from '../../subjects/providers/provider.ts'
import { enqueueMessages, type LaneItem, type Sender, toLaneItem } from './enqueue.ts'
import type { RecordRules } from './new-item.ts'
import type { IntakeSource } from './options.ts'

export interface IntakeOptions {
  readonly sources: readonly IntakeSource[]
  readonly queue: Queue
  /** The database of a brand. */
  readonly databaseOf: (brand: string | undefined) => Database
  /** The brands of all lanes. */
  readonly brands: readonly string[]
  /** The settings of a lane. Undefined: no lane has this name. */
  readonly rulesOf: (lane: string) => RecordRules | undefined
}

/** The lane of the parked messages of a brand. */
const parkedLane = (brand: string): string => `${brand}/intake`

export interface Intake extends MessageIntake {
  /** The lanes have these brands from now on. */
  replaceBrands(brands: readonly string[]): void
}

export function createIntake({ sources, queue, databaseOf, brands, rulesOf }: IntakeOptions): Intake {
  let ofLanes = brands
  const brandsOf = ({ brands = ofLanes }: IntakeSource): readonly string[] => brands
  const parkedBrands = (): readonly string[] =>
    sources.flatMap((each) => [...(each.brands?.length === 1 ? [] : [noBrand]), ...brandsOf(each)])
  const readers = sources.map((each) => {
    const { consumer, channel, brands } = each
    const context = { channel, sender: { name: consumer.name, brands }, rulesOf, brandsOf: () => brandsOf(each) }
    return {
      consumer,
      read: (message: Received) => readRecord(message, context),
      brand: brands?.length === 1 ? brands[0] : undefined,
    }
  })
  const intake = createMessageIntake({
    queue,
    sources: readers,
    commit: (items, ops, brand) => commitItems(queue, databaseOf(brand), items, ops),
    brands: parkedBrands(),
    laneOf: parkedLane,
    refusal: 'unreadable_record',
    readerOf: (_brand, name) => readers.find(({ consumer }) => consumer.name === name)?.read,
  })
  return {
    ...intake,
    replaceBrands(brands) {
      ofLanes = brands
      intake.replaceBrands(parkedBrands())
    },
  }
}

interface ReadContext extends Pick<IntakeOptions, 'rulesOf'> {
  readonly channel: Channel | undefined
  readonly sender: Sender
  /** The brands under which a message may be parked. */
  readonly brandsOf: () => readonly string[]
}

function readRecord(message: Received, { channel: only, sender, rulesOf, brandsOf }: ReadContext): Reading<LaneItem> {
  const channel = only ?? channelOf(message.type)
  if (typeof channel === 'object') return channel
  const record = readSingle(message.body)
  if ('invalid' in record) {
    const many = 'the message is an array: send each record in a message of its own'
    return { invalid: isArray(message.body) ? many : record.invalid }
  }
  const { brandId: brand, userId } = record
  const read = toLaneItem(record, { channel, sender, rulesOf, now: clock.now() })
  if (!('invalid' in read)) return { value: withTrace(read, message), brand, userId }
  // A message cannot choose the brand under which it is parked: its queue or topic limits the brands.
  return { invalid: read.invalid, userId, ...(brandsOf().includes(brand) && { brand }) }
}

function channelOf(type = ''): Channel | { readonly invalid: string } {
  const channel = type.toLowerCase()
  if (isChannel(channel)) return channel
  const found = type === '' ? 'the message has no type' : `the type ${JSON.stringify(type.slice(0, 60))} is not known`
  return { invalid: `${found}: set its type to push or site, or set the channel of the queue or topic` }
}

/** Whether the first character of the JSON text is `[`. */
function isArray(body: Uint8Array): boolean {
  return body.find((byte) => byte > 0x20) === 0x5b
}

function withTrace({ lane, item }: LaneItem, { traceparent }: Received): LaneItem {
  return { lane, item: traceparent === undefined ? item : { ...item, traceparent } }
}

/** Stores the items of a batch and the parked messages. They are waiting in one turn, so they are one transaction. */
async function commitItems(
  queue: Queue,
  database: Database,
  items: readonly LaneItem[],
  ops: readonly Op[],
): Promise<void> {
  const enqueued = [...Map.groupBy(items, ({ lane }) => lane)].map(([lane, ofLane]) =>
    enqueueMessages(
      queue,
      lane,
      ofLane.map(({ item }) => item),
    ),
  )
  await Promise.all([...enqueued, ...(ops.length > 0 ? [database.commit(ops)] : [])])
}
