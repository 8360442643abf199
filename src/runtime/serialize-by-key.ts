/**
 * Runs the tasks of one key one after the other, in order, and those of different keys at the same time. Nothing is kept of a
 * key without tasks.
 *
 * @example const inTurn = serializeByKey(); await inTurn('1 1001', () => link(tokens))
 */
export function serializeByKey(): <T>(key: string, task: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return (key, task) => {
    const mine = (last.get(key) ?? Promise.resolve()).then(task)
    const ended = mine
      .catch(() => {})
      .then(() => {
        if (last.get(key) === ended) last.delete(key)
      })
    last.set(key, ended)
    return mine
  }
}
