import { clock } from './clock.ts'

/**
 * Resolves with the result of `work` if it arrives in time. Does not cancel `work`: pass it an abort signal for that.
 *
 * @throws LateAnswer after `ms`
 * @example const truth = await within(5_000, source.among(…))
 */
export async function within<Answer>(ms: number, work: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = clock.setTimeout(() => reject(new LateAnswer(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clock.clearTimeout(timer)
  }
}

export class LateAnswer extends Error {
  override readonly name = 'LateAnswer'
}

/** Waits at most `ms` for `done`, and ignores its error. */
export async function atMost(ms: number, done: Promise<unknown>): Promise<void> {
  const ended = done.catch(() => {})
  await unlessLate(ms, ended)
}

/** Waits at most `ms` for `work`, and no longer than until the signal aborts. @returns undefined if it has not ended by then */
export async function unlessLate<Answer>(
  ms: number,
  work: Promise<Answer>,
  signal?: AbortSignal,
): Promise<Answer | undefined> {
  const { promise: ended, resolve } = Promise.withResolvers<undefined>()
  const end = (): void => resolve(undefined)
  const timer = clock.setTimeout(end, Math.max(0, ms))
  signal?.addEventListener('abort', end, { once: true })
  if (signal?.aborted) end()
  try {
    return await Promise.race([work, ended])
  } finally {
    clock.clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/** Waits for one promise after another, until aborted. */
export interface AbortableWait {
  /** @throws the reason passed to abort(), now or earlier */
  for<Answer>(work: Promise<Answer>): Promise<Answer>
  abort(reason: Error): void
}

/**
 * Aborts a series of waits. `Promise.race` with one common promise would keep every result in memory until that promise settles:
 * for a stream, all of its chunks.
 *
 * @example
 * const wait = createAbortableWait()
 * response.once('close', () => wait.abort(new Error('the client left')))
 * for (;;) write(await wait.for(next()))
 */
export function createAbortableWait(): AbortableWait {
  let abortReason: Error | undefined
  let rejectCurrent: ((reason: Error) => void) | undefined
  return {
    for: (work) =>
      new Promise((resolve, reject) => {
        rejectCurrent = reject
        work.then(resolve, reject)
        if (abortReason) reject(abortReason)
      }),
    abort(reason) {
      abortReason ??= reason
      rejectCurrent?.(abortReason)
    },
  }
}
