// Keeps the requests of a fake in memory, numbered in the order of their arrival.

export interface Recorder<Entry> {
  /** The latest requests, in the order in which they ended. */
  readonly requests: readonly Entry[]
  /** The number of the next request, from 1. */
  next(): number
  record(entry: Entry): void
}

const mostRequests = 10_000

export function createRecorder<Entry>(onRequest?: (entry: Entry) => void): Recorder<Entry> {
  const requests: Entry[] = []
  let last = 0
  return {
    requests,
    next: () => ++last,
    record(entry) {
      requests.push(entry)
      if (requests.length > mostRequests) requests.splice(0, requests.length - mostRequests)
      onRequest?.(entry)
    },
  }
}
