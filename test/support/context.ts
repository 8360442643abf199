/** The time of a call or a look-up. It ends at its deadline, unless the signal aborts it. */
export const contextOf = (ms = 10_000, signal: AbortSignal = new AbortController().signal) => ({
  deadline: Date.now() + ms,
  signal,
})
