/** Those who wait for room, in order, though not for long. */
export interface Line {
  /**
   * Undefined: go on, there is room, or too much waits already. A promise: resolves when there is room, or patience is at its end.
   *
   * @param weight what it holds on to while it waits, bytes say
   */
  enter(weight: number): Promise<void> | undefined
  /** There may be room now. */
  move(): void
}

export interface LineOptions {
  /** The longest wait. */
  readonly patienceMs: number
  /** Of all who wait together. */
  readonly mostWeight: number
}

/**
 * Lets one in after the other while there is room. Whoever is let in has until the turn of the event loop ends to take the room,
 * before it is asked for again. It puts off what would only stand in the way, and bounds nothing: whoever waited long enough goes in.
 *
 * @example
 * const line = createLine(() => working < 100, { patienceMs: 500, mostWeight: 1_000_000 })
 * await line.enter(body.length)
 * working++
 * // … and when the work is done:
 * working--
 * line.move()
 */
export function createLine(hasRoom: () => boolean, { patienceMs, mostWeight }: LineOptions): Line {
  const waiting = new Set<() => void>()
  let weighs = 0
  let moving = false

  function move(): void {
    if (moving || waiting.size === 0 || !hasRoom()) return
    const [first] = waiting
    first?.()
    moving = true
    setImmediate(() => {
      moving = false
      move()
    })
  }

  return {
    enter(weight) {
      if (waiting.size === 0 && !moving && hasRoom()) return undefined
      if (weighs + weight > mostWeight) return undefined
      return new Promise((resolve) => {
        const leave = (): void => {
          clearTimeout(timer)
          waiting.delete(leave)
          weighs -= weight
          resolve()
        }
        const timer = setTimeout(leave, patienceMs)
        waiting.add(leave)
        weighs += weight
        move()
      })
    },
    move,
  }
}
