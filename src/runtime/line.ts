/** Those who wait for room, in order. */
export interface Line {
  /**
   * Undefined: there is room now. A promise: whether there was before the deadline (epoch ms); false at once where too much waits.
   *
   * @param weight what it holds on to while it waits, bytes say
   */
  enter(deadline: number, weight: number): Promise<boolean> | undefined
  /** There may be room now. */
  move(): void
  /** Lets everybody in. */
  open(): void
}

/**
 * Lets one in after the other while there is room. Whoever is let in has until the turn of the event loop ends to take the room,
 * before it is asked for again.
 *
 * @param mostWeight of all who wait together
 * @example
 * const line = createLine(() => working < 100, 1_000_000)
 * if ((await line.enter(Date.now() + 1_000, body.length)) === false) throw new Error('busy')
 * working++
 * // … and when the work is done:
 * working--
 * line.move()
 */
export function createLine(hasRoom: () => boolean, mostWeight: number): Line {
  const waiting = new Set<(room: boolean) => void>()
  let weighs = 0
  let moving = false

  function move(): void {
    if (moving || waiting.size === 0 || !hasRoom()) return
    const [first] = waiting
    first?.(true)
    moving = true
    setImmediate(() => {
      moving = false
      move()
    })
  }

  return {
    enter(deadline, weight) {
      if (waiting.size === 0 && !moving && hasRoom()) return undefined
      if (weighs + weight > mostWeight) return Promise.resolve(false)
      return new Promise((resolve) => {
        const leave = (room: boolean): void => {
          clearTimeout(timer)
          waiting.delete(leave)
          weighs -= weight
          resolve(room)
        }
        const timer = setTimeout(leave, deadline - Date.now(), false)
        waiting.add(leave)
        weighs += weight
        move()
      })
    },
    move,
    open() {
      for (const leave of waiting) leave(true)
    },
  }
}
