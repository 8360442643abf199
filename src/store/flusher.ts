/**
 * Joins callers: a flush that is under way began before they asked, so they share the one that follows it.
 *
 * @param write brings to disk all that was committed before it was called
 */
export function createFlusher(write: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let following: Promise<void> | undefined

  function begin(): Promise<void> {
    following = undefined
    running = write().finally(() => {
      running = following
    })
    return running
  }

  return () => {
    if (!running) return begin()
    following ??= running.then(begin, begin)
    return following
  }
}
