/**
 * Collects what arrives in one turn of the event loop and hands it over together, so that work which costs the same
 * for one and for a hundred is done once a turn.
 *
 * @example const look = gather<string>((users) => askForAll(users)); look('u1'); look('u2') // one askForAll(['u1', 'u2'])
 */
export function gather<Item>(take: (items: Item[]) => void): (item: Item) => void {
  let waiting: Item[] = []
  const flush = (): void => {
    const items = waiting
    waiting = []
    take(items)
  }
  return (item) => {
    if (waiting.push(item) === 1) setImmediate(flush)
  }
}
