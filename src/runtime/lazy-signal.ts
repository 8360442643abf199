export interface LazySignal {
  /** The signal, made when it is asked for. */
  get(): AbortSignal
  abort(reason: Error): void
  /** Listens to its parent no longer. */
  end(): void
}

/**
 * A signal that follows its parent and can be aborted by itself. Most calls are answered in time and never look at theirs,
 * and making one costs more than the rest of a call.
 */
export function lazySignal(parent: AbortSignal): LazySignal {
  let controller: AbortController | undefined
  let reason: Error | undefined
  const follow = (): void => controller?.abort(parent.reason)
  return {
    get() {
      if (!controller) {
        controller = new AbortController()
        if (reason) controller.abort(reason)
        else if (parent.aborted) follow()
        else parent.addEventListener('abort', follow, { once: true })
      }
      return controller.signal
    },
    abort(why) {
      reason = why
      controller?.abort(why)
    },
    end() {
      if (controller) parent.removeEventListener('abort', follow)
    },
  }
}
