/**
 * Batches the items of one turn of the event loop into one call, for work whose cost hardly depends on the number of items.
 *
 * @example const query = gather<string>((users) => queryAll(users)); query('u1'); query('u2') // one queryAll(['u1', 'u2'])
 */
export function gather<Item>(processBatch: (items: Item[]) => void): (item: Item) => void {
  let waiting: Item[] = []
  const flush = (): void => {
    const items = waiting
    waiting = []
    processBatch(items)
  }
  return (item) => {
    if (waiting.push(item) === 1) setImmediate(flush)
  }
}
