/**
 * Merges flush requests. A flush in progress may have begun before the caller's commit, so new callers share the next one.
 *
 * @param write flushes everything committed before the call to disk
 */
export function createFlusher(write: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined
  let next: Promise<void> | undefined

  function startFlush(): Promise<void> {
    next = undefined
    current = write().finally(() => {
      current = next
    })
    return current
  }

  return () => {
    if (!current) return startFlush()
    next ??= current.then(startFlush, startFlush)
    return next
  }
}
