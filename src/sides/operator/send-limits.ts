// The rates of the API keys (§1.6, §8.1, row 13): how many messages the platform may send in a second, for each key and brand.

import { emit } from '../../base/runtime/events.ts'
import { createTokenBucket, type TokenBucket } from '../../base/runtime/token-bucket.ts'
import type { Fatal } from '../../contract/outcome.ts'
import { refuseFatal } from '../../contract/refusals.ts'
import type { Message } from '../../subjects/providers/provider.ts'
import type { ApiKey } from './options.ts'

/** The messages of a request that exceed the rate of its key. */
export interface Excess {
  readonly indexes: ReadonlySet<number>
  /** With the time until they fit. */
  readonly refusal: Fatal
}

/** Counts the messages against the rates of their key. @returns the excess, which is not counted; undefined: all fit */
export type FindExcess = (key: ApiKey, messages: readonly Message[], now: number) => Excess | undefined

/**
 * A conforming sender is never refused because some of its messages were delayed on the way: two seconds' worth may arrive at once.
 * Over any T seconds at most T + 2 seconds' worth is accepted.
 */
const burstSeconds = 2
/** After this time without excess, the next one is logged as a warning. */
const quietMs = 60_000

/** @example const excess = createSendLimits()(key, messages, Date.now()) */
export function createSendLimits(): FindExcess {
  const limits = new WeakMap<ApiKey, ReturnType<typeof createKeyLimit>>()
  return (key, messages, now) => {
    if (!key.rate) return undefined
    const limit = limits.get(key) ?? createKeyLimit(key)
    limits.set(key, limit)
    return limit(messages, now)
  }
}

function createKeyLimit({ name, brands, rate = {} }: ApiKey) {
  const ofKey = bucketOf(rate.perSecond)
  const ofBrand = new Map(brands.map((brand) => [brand, bucketOf(rate.perBrand)]))
  let exceededAt = Number.NEGATIVE_INFINITY

  /** The buckets of the key and of the brand, if these have a rate. */
  const bucketsOf = (brand: string): readonly TokenBucket[] =>
    [ofKey, ofBrand.get(brand)].filter((bucket) => bucket !== undefined)

  return (messages: readonly Message[], now: number): Excess | undefined => {
    const indexes = new Set<number>()
    for (const [i, { brand }] of messages.entries()) {
      const buckets = bucketsOf(brand)
      if (buckets.some((bucket) => bucket.waitMs(1, now) > 0)) indexes.add(i)
      else for (const bucket of buckets) bucket.take(1, now)
    }
    if (indexes.size === 0) return undefined
    const excess = messages.filter((_, i) => indexes.has(i))
    const channel = (excess[0] as Message).channel
    emit('messages.limited', { key: name, channel, count: excess.length, first: now - exceededAt > quietMs })
    exceededAt = now
    return {
      indexes,
      refusal: refuseFatal('rate_exceeded', { error: errorOf(name, rate), retryAfterMs: wait(excess) }),
    }

    function wait(excess: readonly Message[]): number {
      const byBrand = [...Map.groupBy(excess, ({ brand }) => brand)]
      const waits = byBrand.map(([brand, { length }]) => ofBrand.get(brand)?.waitMs(length, now) ?? 0)
      return Math.max(ofKey?.waitMs(excess.length, now) ?? 0, ...waits)
    }
  }
}

const bucketOf = (perSecond: number | undefined): TokenBucket | undefined =>
  perSecond === undefined ? undefined : createTokenBucket(burstSeconds * perSecond, burstSeconds * 1_000)

function errorOf(name: string, { perSecond, perBrand }: NonNullable<ApiKey['rate']>): string {
  const limits = [
    perSecond !== undefined && `${perSecond} messages a second`,
    perBrand !== undefined && `${perBrand} messages a second of each brand`,
  ].filter(Boolean)
  return `the API key ${name} may send ${limits.join(' and ')}: repeat the request after the time in Retry-After`
}
