// Drops the messages of aborted transactions. The client drops those of the last aborted transaction of a producer in a fetch, unless
// that transaction ends in a later fetch: it would deliver the messages of all others.

import type { CallbackWithPromise, Consumer, FetchOptions, RecordsBatch } from '@platformatic/kafka'
import { loadKafka } from './kafka-client.ts'

/** Each fetch of the consumer then has only the messages of committed transactions, and those without a transaction. */
export function dropAbortedMessages(consumer: Consumer<Buffer, Buffer, string, Buffer>): void {
  const fetch = consumer.fetch.bind(consumer)
  const fetchCommitted = (
    options: FetchOptions<Buffer, Buffer, string, Buffer>,
    callback: CallbackWithPromise<FetchResponse>,
  ): void =>
    void fetch(options, (error, response) => {
      for (const { partitions } of response?.responses ?? []) for (const partition of partitions) dropAborted(partition)
      callback(error, response)
    })
  consumer.fetch = fetchCommitted as typeof consumer.fetch
}

type FetchResponse = Awaited<ReturnType<Consumer['fetch']>>
type FetchPartition = FetchResponse['responses'][number]['partitions'][number]

/** The batches stay, because the client reads the next offset from the last one. */
function dropAborted({ abortedTransactions, records }: FetchPartition): void {
  if (!abortedTransactions?.length || !records) return
  const { IS_CONTROL, IS_TRANSACTIONAL } = loadKafka()
  const aborted = abortedTransactions.toSorted((a, b) => Number(a.firstOffset - b.firstOffset))
  /** The producers whose transaction at this place of the partition was aborted. */
  const producers = new Set<bigint>()
  for (const batch of records) {
    const lastOffset = batch.firstOffset + BigInt(batch.lastOffsetDelta)
    while (aborted[0] && aborted[0].firstOffset <= lastOffset) producers.add((aborted.shift() as Aborted).producerId)
    if (batch.attributes & IS_CONTROL) {
      if (endsAborted(batch)) producers.delete(batch.producerId)
    } else if (batch.attributes & IS_TRANSACTIONAL && producers.has(batch.producerId)) batch.records = []
  }
}

type Aborted = NonNullable<FetchPartition['abortedTransactions']>[number]

/** The key of a control record has its version and its type; 0: the transaction was aborted. */
const endsAborted = ({ records: [control] }: RecordsBatch): boolean => control?.key?.readInt16BE(2) === 0
