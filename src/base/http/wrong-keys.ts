// Limits the rate at which each address can guess API keys. The log counts the wrong keys instead of writing a line for each.

import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { summarizeRepeats } from '../runtime/summarize-repeats.ts'
import { createTokenBucket, type TokenBucket } from '../runtime/token-bucket.ts'
import { networkOf } from './address.ts'

export interface WrongKeys {
  /**
   * Judges a key from an address as right or wrong, or refuses to check it now ('wait').
   *
   * @param name the name of the matching key; undefined if no key matches
   * @param guesses how many guesses a wrong key counts as; default: one
   */
  judge(address: string, name: string | undefined, guesses?: number): 'right' | 'wrong' | 'wait'
  /** Whether no key of the address is checked now, and none was right before. */
  isExhausted(address: string): boolean
  /** Counts a request without a key in the log. It does not count as a guess. */
  countMissing(address: string): void
}

export interface WrongKeysOptions {
  /** Wrong keys of one address that are checked without a rate limit. */
  readonly burst?: number
  /** Rate limit after the burst. */
  readonly perSecond?: number
  /** Most addresses in memory; the oldest is dropped first. */
  readonly addresses?: number
  readonly logEveryMs?: number
  /** false: the caller's refused requests are counted in the log already. Default: true. */
  readonly logged?: boolean
  readonly now?: () => number
}

interface AddressState {
  /** Wrong keys that the address may still send. */
  readonly wrong: TokenBucket
  /** Names of the keys that were right from this address: they never wait. */
  readonly right: Set<string>
}

/**
 * Once an address has used up its wrong keys, none of its keys is checked, right or wrong: otherwise the answer would still
 * reveal a right guess. A key that was right from this address before is still accepted, so that someone who guesses cannot
 * lock out other clients behind the same proxy or NAT. IPv6 addresses count by /64, the usual network of one customer.
 */
export function createWrongKeys(options: WrongKeysOptions = {}): WrongKeys {
  const {
    burst = 100,
    perSecond = 10,
    addresses = 10_000,
    logEveryMs = 60_000,
    logged = true,
    now = clock.monotonic,
  } = options
  const states = new Map<string, AddressState>()
  const countRefusal = summarizeRepeats(logEveryMs, (address, count) => {
    if (logged) emit('keys.refused', { address, count })
  })

  function stateOf(address: string): AddressState {
    const found = states.get(address)
    if (found) return found
    const created = { wrong: createTokenBucket(burst, (burst * 1_000) / perSecond), right: new Set<string>() }
    states.set(address, created)
    if (states.size > addresses) states.delete(states.keys().next().value as string)
    return created
  }

  return {
    judge(from, name, guesses = 1) {
      const address = networkOf(from)
      if (name !== undefined && states.get(address)?.right.has(name)) return 'right'
      const { wrong, right } = stateOf(address)
      const isExhausted = wrong.waitMs(1, now()) > 0
      if (!isExhausted && name !== undefined) {
        right.add(name)
        return 'right'
      }
      countRefusal(address)
      if (isExhausted) return 'wait'
      wrong.take(guesses, now())
      return 'wrong'
    },
    isExhausted(from) {
      const { wrong, right } = stateOf(networkOf(from))
      return wrong.waitMs(1, now()) > 0 && right.size === 0
    },
    countMissing: (from) => countRefusal(networkOf(from)),
  }
}
