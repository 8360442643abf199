/**
 * A signal that follows its parent and can be aborted by itself, made when it is asked for: most calls are answered in time and
 * never look at theirs, and making one costs more than the rest of a call.
 *
 * @example const own = new LazySignal(stopping); fetch(url, { signal: own.signal }).finally(() => own.end())
 */
export class LazySignal {
  readonly #parent: AbortSignal
  #controller: AbortController | undefined
  #reason: Error | undefined
  #follow: (() => void) | undefined

  constructor(parent: AbortSignal) {
    this.#parent = parent
  }

  get signal(): AbortSignal {
    this.#controller ??= this.#made()
    return this.#controller.signal
  }

  abort(reason: Error): void {
    this.#reason = reason
    this.#controller?.abort(reason)
  }

  /** Listens to its parent no longer. */
  end(): void {
    if (this.#follow) this.#parent.removeEventListener('abort', this.#follow)
  }

  #made(): AbortController {
    const controller = new AbortController()
    if (this.#reason) controller.abort(this.#reason)
    else if (this.#parent.aborted) controller.abort(this.#parent.reason)
    else {
      this.#follow = () => controller.abort(this.#parent.reason)
      this.#parent.addEventListener('abort', this.#follow, { once: true })
    }
    return controller
  }
}
