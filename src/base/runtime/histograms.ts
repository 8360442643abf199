// The Prometheus histograms: each row observes a number of the events of one name, grouped by some of their fields.

import type { EventName, Events } from './events.ts'

type Row<Name extends EventName> = {
  readonly event: Name
  /** The metric is bellwire_NAME. */
  readonly name: string
  readonly help: string
  /** Fields of the event that become labels. */
  readonly by: readonly (keyof Events[Name] & string)[]
  /** The field that is observed. */
  readonly value: keyof Events[Name] & string
  /** 1,000 if the field is in milliseconds: a metric is in seconds. */
  readonly divisor: 1 | 1_000
  /** The upper bounds of the buckets. */
  readonly buckets: readonly number[]
}
export type HistogramRow = { [Name in EventName]: Row<Name> }[EventName]

const ofCalls = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const ofCommits = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5]
/** A message waits for a second, or during an outage for hours. */
const ofMessages = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 900, 3_600, 21_600, 86_400]

export const histograms: readonly HistogramRow[] = [
  {
    event: 'request.answered',
    name: 'request_seconds',
    help: 'Time from the headers of a request to its answer, by route; streams of events and reconciliations are not observed',
    by: ['side', 'method', 'route', 'status'],
    value: 'ms',
    divisor: 1_000,
    buckets: ofCalls,
  },
  {
    event: 'item.settled',
    name: 'settle_seconds',
    help: 'Time from the enqueue of a message to its outcome: successful is delivered, failed is a Failed Action',
    by: ['lane', 'category'],
    value: 'ageMs',
    divisor: 1_000,
    buckets: ofMessages,
  },
  {
    event: 'call.done',
    name: 'call_seconds',
    help: 'Duration of provider calls',
    by: ['provider'],
    value: 'ms',
    divisor: 1_000,
    buckets: ofCalls,
  },
  {
    event: 'store.commit',
    name: 'commit_seconds',
    help: 'Duration of transactions',
    by: ['durable'],
    value: 'ms',
    divisor: 1_000,
    buckets: ofCommits,
  },
  {
    event: 'store.commit',
    name: 'commit_rows',
    help: 'Rows in one transaction',
    by: ['durable'],
    value: 'rows',
    divisor: 1,
    buckets: [1, 10, 100, 1_000, 10_000],
  },
]
