/** Repeats the work until it succeeds. @throws the last error if the signal has aborted */
export async function retryUntil<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
