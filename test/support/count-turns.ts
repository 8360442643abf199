import type { TestContext } from 'node:test'

/** Counts the turns of the event loop until the test ends. @returns a function that reads the count */
export function countTurns(t: TestContext): () => number {
  let turns = 0
  let ended = false
  t.after(() => (ended = true))
  const count = (): void => {
    if (!ended && ++turns) setImmediate(count)
  }
  count()
  return () => turns
}
