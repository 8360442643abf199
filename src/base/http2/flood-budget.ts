// A limit on frames that cost the peer little and us work, and bring no request forward: PING, SETTINGS, resets, empty DATA and
// their kin (CVE-2019-9511 to 9518, CVE-2023-44487).

/** Frames at once. A peer may well reset all its streams, several times. */
const burst = 10_000
const perSecond = 1_000
/** For each answer: a peer with small windows sends many WINDOW_UPDATE frames. */
const perAnswer = 16

export class FloodBudget {
  #left = burst
  #refilledAt: number

  constructor(now: number) {
    this.#refilledAt = now
  }

  /** @param now is only called if the budget is used up. @returns false: the peer floods the connection */
  spend(now: () => number): boolean {
    if (this.#left > 0) {
      this.#left--
      return true
    }
    const at = now()
    this.#left = Math.min(burst, Math.floor(((at - this.#refilledAt) * perSecond) / 1_000))
    this.#refilledAt = at
    return this.#left-- > 0
  }

  addAnswer(): void {
    this.#left = Math.min(burst, this.#left + perAnswer)
  }
}
