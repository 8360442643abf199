/** Random numbers that only a seed decides (mulberry32). Each part of a run has a stream of its own, so that it does not disturb another. */
export interface Random {
  /** At least 0, less than 1. */
  fraction(): number
  /** From `least` to `most`, both included. */
  integer(least: number, most: number): number
  chance(share: number): boolean
  pick<T>(items: readonly T[]): T
  fork(label: string): Random
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const random: Random = {
    fraction() {
      state = (state + 0x6d2b79f5) >>> 0
      let mixed = Math.imul(state ^ (state >>> 15), state | 1)
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
    },
    integer: (least, most) => least + Math.floor(random.fraction() * (most - least + 1)),
    chance: (share) => random.fraction() < share,
    pick: (items) => items[random.integer(0, items.length - 1)] as (typeof items)[number],
    fork(label) {
      let hash = seed ^ 0x9e3779b9
      for (const character of label) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193) >>> 0
      return createRandom(hash)
    },
  }
  return random
}
