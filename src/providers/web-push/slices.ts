/**
 * Runs short work in order of arrival, in slices of some milliseconds, between which everything else in the process has its turn.
 * Encrypting a message takes some 0.4 ms of computing that cannot be interrupted: a thousand at once would stop the process.
 *
 * @example const inSlices = createSlices(2); const encrypted = await inSlices(() => encrypt(message))
 */
export function createSlices(mostMs: number): <T>(work: () => T) => Promise<T> {
  const waiting: (() => void)[] = []
  let scheduled = false

  function run(): void {
    const until = performance.now() + mostMs
    do waiting.shift()?.()
    while (waiting.length > 0 && performance.now() < until)
    scheduled = waiting.length > 0
    if (scheduled) setImmediate(run)
  }

  return (work) =>
    new Promise((resolve, reject) => {
      waiting.push(() => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      })
      if (scheduled) return
      scheduled = true
      setImmediate(run)
    })
}
