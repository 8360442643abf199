// Guessing API keys: slowed down for each address, and counted in the log instead of written line by line.

import { isIPv6 } from 'node:net'
import { emit } from './events.ts'
import { summarizeRepeats } from './summarize-repeats.ts'

export interface WrongKeys {
  /**
   * Whether a key that an address presents is taken as right or wrong, or is not looked at now ('wait').
   *
   * @param name whose key it is; undefined: nobody's
   */
  judge(address: string, name: string | undefined): 'right' | 'wrong' | 'wait'
  /** A request without a key: no guess, but it is counted in the log. */
  countMissing(address: string): void
}

export interface WrongKeysOptions {
  /** Wrong keys of one address that are answered as they come. */
  readonly burst?: number
  /** After that, so many a second. */
  readonly perSecond?: number
  /** Addresses that are remembered; the first ones are forgotten first. */
  readonly addresses?: number
  readonly logEveryMs?: number
  readonly now?: () => number
}

interface Known {
  /** Wrong keys that may still come, at the time `at`. */
  left: number
  at: number
  /** Keys that were right here: they are never made to wait. */
  readonly right: Set<string>
}

/**
 * When an address has used up its wrong keys, no key of it is looked at, be it right or wrong: if right ones passed, each answer
 * would still tell a guess apart. What was right from this address before keeps passing: behind one proxy or NAT, nobody
 * who is at work is locked out by somebody who guesses there. IPv6 counts by /64, which one customer has.
 */
export function createWrongKeys(options: WrongKeysOptions = {}): WrongKeys {
  const { burst = 100, perSecond = 10, addresses = 10_000, logEveryMs = 60_000, now = Date.now } = options
  const known = new Map<string, Known>()
  const count = summarizeRepeats(logEveryMs, (address, times) => emit('keys.refused', { address, count: times }))

  function knownOf(address: string): Known {
    const time = now()
    const found = known.get(address)
    if (found) {
      found.left = Math.min(burst, found.left + ((time - found.at) * perSecond) / 1000)
      found.at = time
      return found
    }
    const made: Known = { left: burst, at: time, right: new Set() }
    known.set(address, made)
    if (known.size > addresses) known.delete(known.keys().next().value as string)
    return made
  }

  return {
    judge(from, name) {
      const address = networkOf(from)
      if (name !== undefined && known.get(address)?.right.has(name)) return 'right'
      const one = knownOf(address)
      if (one.left >= 1 && name !== undefined) {
        one.right.add(name)
        return 'right'
      }
      count(address)
      if (one.left < 1) return 'wait'
      one.left--
      return 'wrong'
    },
    countMissing: (from) => count(networkOf(from)),
  }
}

/** IPv4 as it is, IPv6 by its first 64 bits. @example '2001:db8:0:1::/64' of '2001:db8::1:0:0:0:2' */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  if (address.startsWith('::ffff:') && address.includes('.')) return address.slice('::ffff:'.length)
  const [front = '', back = ''] = address.split('%', 1)[0]?.split('::') ?? []
  const words = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const missing = 8 - words(front).length - words(back).length
  const all = address.includes('::')
    ? [...words(front), ...Array<string>(missing).fill('0'), ...words(back)]
    : words(front)
  return `${all.slice(0, 4).join(':')}::/64`
}
