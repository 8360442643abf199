/**
 * What `work` resolves with, if it does so in time. It is not ended when it is late: tell it by a signal of its own.
 *
 * @throws an error that says so when it is late
 * @example const truth = await within(5_000, source.among(…))
 */
export async function within<Answer>(ms: number, work: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits no longer than `ms` for something that is good to have ended. */
export async function atMost(ms: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([done.catch(() => {}), late])
  clearTimeout(timer)
}
