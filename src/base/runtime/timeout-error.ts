/** The reason of a signal that aborts at a deadline: the same as that of AbortSignal.timeout(). */
export const timeoutError = (): DOMException => new DOMException('no answer in time', 'TimeoutError')

export const isTimeoutError = (reason: unknown): boolean =>
  reason instanceof DOMException && reason.name === 'TimeoutError'
