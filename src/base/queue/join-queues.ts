// One queue over the queues of several stores. A lane lives in the store of its brand. A request that names a lane or a number of an
// item goes to one store; the others go to all stores, and fail while one of them is unavailable.

import { clock } from '../runtime/clock.ts'
import { compare } from '../runtime/compare.ts'
import { readCursor, writeCursor } from './failed/decide-failed.ts'
import type { DecidedItems, FailedFilter, Queue } from './queue.ts'
import { numberBefore, storeOfNumber } from './store-numbers.ts'

export interface NumberedQueue {
  readonly number: number
  readonly queue: Queue
}

/**
 * @param stores sorted by number
 * @param storeOf returns one of them
 */
export function joinQueues(stores: readonly NumberedQueue[], storeOf: (brand: string) => NumberedQueue): Queue {
  /** @param scope a lane, or all lanes of a brand */
  const queueOf = (scope: string): Queue => storeOf(scope.split('/', 1)[0] as string).queue

  /** Runs a function with the values of each store. */
  async function inEach<Value, Result>(
    values: readonly Value[],
    laneOrBrandOf: (value: Value) => string,
    run: (queue: Queue, values: readonly Value[]) => Promise<Result>,
  ): Promise<Result[]> {
    const groups = Map.groupBy(values, (value) => queueOf(laneOrBrandOf(value)))
    return Promise.all([...groups].map(([queue, own]) => run(queue, own)))
  }

  const inAll = async <Result>(run: (queue: Queue) => Promise<readonly Result[]>): Promise<Result[]> =>
    (await Promise.all(stores.map(({ queue }) => run(queue)))).flat()

  /** The store of a cursor, or the next one, and the store after it. */
  const storesFrom = (seq: number) => stores.filter(({ number }) => number >= storeOfNumber(seq)).slice(0, 2)

  /** Decides in one store. After its last item, the cursor goes on with the next store. */
  async function decide<Decided extends DecidedItems>(
    { lane }: FailedFilter,
    after: string | undefined,
    run: (queue: Queue) => Promise<Decided>,
  ): Promise<Decided | DecidedItems> {
    if (lane !== undefined) return run(queueOf(lane))
    const cursor = readCursor(after, clock.steady())
    const [store, following] = storesFrom(cursor.seq)
    if (!store) return { count: 0 }
    const decided = await run(store.queue)
    if (decided.next !== undefined || !following) return decided
    const position = cursor.position + decided.count
    return { ...decided, next: writeCursor({ ...cursor, position, seq: numberBefore(following.number) }) }
  }

  const scopeOf = ({ scope }: { readonly scope: string }): string => scope
  const laneOf = ({ lane }: { readonly lane: string }): string => lane
  const itself = (lane: string): string => lane

  return {
    enqueueOps: (lane, items) => queueOf(lane).enqueueOps(lane, items),
    insertFailedOps: (lane, items) => queueOf(lane).insertFailedOps(lane, items),
    enqueue: (lane, items) => queueOf(lane).enqueue(lane, items),
    serveLane: (lane, handle) => queueOf(lane.name).serveLane(lane, handle),
    async setControls(controls, also) {
      await inEach(controls, scopeOf, (queue, own) => queue.setControls(own, also))
    },
    async endControls(keys, by, also) {
      const ended = await inEach(keys, scopeOf, (queue, own) => queue.endControls(own, by, also))
      return ended.flat()
    },
    async probeLanes(lanes) {
      await inEach(lanes, itself, (queue, own) => queue.probeLanes(own))
    },
    countSelected: (lane, selection, after) => queueOf(lane).countSelected(lane, selection, after),
    async cancelWaiting(cancellations, also) {
      await inEach(cancellations, laneOf, (queue, own) => queue.cancelWaiting(own, also))
    },
    async listCancellations(lanes, limit) {
      const listed = await inEach(lanes, itself, (queue, own) => queue.listCancellations(own, limit))
      return listed
        .flat()
        .sort((a, b) => b.at - a.at)
        .slice(0, limit)
    },
    async readOutcomes(seqs) {
      const groups = Map.groupBy(seqs, storeOfNumber)
      const own = stores.filter(({ number }) => groups.has(number))
      const read = own.map(({ number, queue }) => queue.readOutcomes(groups.get(number) as number[]))
      const outcomes = new Map((await Promise.all(read)).flat().map((outcome) => [outcome.seq, outcome]))
      return seqs.flatMap((seq) => outcomes.get(seq) ?? [])
    },
    async findItem(seq) {
      return stores.find(({ number }) => number === storeOfNumber(seq))?.queue.findItem(seq)
    },
    async findItems(search) {
      const found = (await inEach(search.lanes, itself, (queue, lanes) => queue.findItems({ ...search, lanes }))).flat()
      if (!('userId' in search)) return found.sort((a, b) => a.seq - b.seq)
      return found.sort((a, b) => b.seq - a.seq).slice(0, search.limit)
    },
    async listFailed(filter, { after, limit }) {
      if (filter.lane !== undefined) return queueOf(filter.lane).listFailed(filter, { after, limit })
      const [store, following] = storesFrom(after)
      if (!store) return { items: [] }
      const page = await store.queue.listFailed(filter, { after, limit })
      return page.next === undefined && following ? { ...page, next: numberBefore(following.number) } : page
    },
    async findFailed(seq) {
      return stores.find(({ number }) => number === storeOfNumber(seq))?.queue.findFailed(seq)
    },
    async summarizeFailed(filter) {
      if (filter.lane !== undefined) return queueOf(filter.lane).summarizeFailed(filter)
      const groups = await inAll((queue) => queue.summarizeFailed(filter))
      return groups.sort((a, b) => compare(a.lane, b.lane))
    },
    async previewFailed(filter, action, after) {
      const preview = await decide(filter, after, (queue) => queue.previewFailed(filter, action, after))
      return { groups: [], ...preview }
    },
    decideFailed: (filter, action, decision = {}) =>
      decide(filter, decision.after, (queue) => queue.decideFailed(filter, action, decision)),
    countItems: () => inAll((queue) => queue.countItems()),
  }
}
