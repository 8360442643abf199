/**
 * Runs the tasks of each key one at a time, in order; tasks of different keys run concurrently. Keys without tasks use no memory.
 *
 * @example const serialize = serializeByKey(); await serialize('1 1001', () => link(tokens))
 */
export function serializeByKey(): <T>(key: string, task: () => Promise<T>) => Promise<T> {
  const lastOfKey = new Map<string, Promise<unknown>>()
  return (key, task) => {
    const result = (lastOfKey.get(key) ?? Promise.resolve()).then(task)
    const ended = result
      .catch(() => {})
      .then(() => {
        if (lastOfKey.get(key) === ended) lastOfKey.delete(key)
      })
    lastOfKey.set(key, ended)
    return result
  }
}
