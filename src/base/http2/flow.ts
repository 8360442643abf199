// Flow control (RFC 9113 §5.2 and §6.9): the windows of a connection or of a stream.

import { ConnectionError, errorCode, maxWindow } from './frames.ts'

/** @returns the larger window. @throws ConnectionError if it is too large (§6.9.1) */
export function grow(window: number, by: number): number {
  const grown = window + by
  if (grown > maxWindow) throw new ConnectionError(errorCode.flowControl, 'a window is larger than 2^31-1')
  return grown
}

/** The bytes that the peer may send to us. */
export class ReceiveWindow {
  readonly #size: number
  /** Received bytes that were not given back to the peer. */
  #received = 0

  constructor(size: number) {
    this.#size = size
  }

  /** @returns false if the peer sent more than it may */
  receive(bytes: number): boolean {
    this.#received += bytes
    return this.#received <= this.#size
  }

  /** @returns the increment to send to the peer, or 0 while less than half of the window is used */
  takeIncrement(): number {
    if (this.#received < this.#size / 2) return 0
    const increment = this.#received
    this.#received = 0
    return increment
  }
}
