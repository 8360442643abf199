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

/** Waits for one thing after the other, until it is given up. */
export interface Waiting {
  /** @throws what it was given up for, at once or before */
  on<Answer>(work: Promise<Answer>): Promise<Answer>
  giveUp(why: Error): void
}

/**
 * For many waits with one end. `Promise.race` against one promise for all would keep every answer until that promise settles:
 * a whole list, where each answer is a piece of it.
 *
 * @example
 * const waiting = createAbortableWait()
 * response.once('close', () => waiting.abort(new Error('the client left')))
 * for (;;) write(await waiting.for(next()))
 */
export function createAbortableWait(): Waiting {
  let why: Error | undefined
  let end: ((why: Error) => void) | undefined
  return {
    on: (work) =>
      new Promise((resolve, reject) => {
        end = reject
        work.then(resolve, reject)
        if (why) reject(why)
      }),
    giveUp(reason) {
      why ??= reason
      end?.(why)
    },
  }
}
