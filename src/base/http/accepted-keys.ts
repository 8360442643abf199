import { hash, timingSafeEqual } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { metrics } from '../runtime/metrics.ts'
import { summarizeRepeats } from '../runtime/summarize-repeats.ts'
import { createIsInside } from './address.ts'

/** A key that callers present. It has either `key` or `keySha256`. */
export interface AcceptedKey {
  readonly name: string
  readonly key?: string
  /** The SHA-256 of the key in hexadecimal digits, so that the configuration does not contain the key. */
  readonly keySha256?: string
  /** The time from which the key is refused: '2027-01-31T00:00:00Z'. Default: never. */
  readonly expiresAt?: string
  /** The addresses and networks from which the key is accepted: '10.0.0.0/8'. Default: all. */
  readonly from?: readonly string[]
}

/** Where a key was written. Each source has its own list. */
export type KeySource = 'configuration' | 'store'

/** The accepted keys of one list, which all its routes share. */
export interface AcceptedKeys<Key extends AcceptedKey = AcceptedKey> {
  /**
   * The key that was presented, if it is accepted from this address. The time does not depend on how many characters of it are right.
   */
  find(presented: string | undefined, address: string): Key | undefined
  /** Notes the use of a key. Reports a key that expires soon, once a day. @returns false: the key has expired */
  use(key: Key): boolean
  /** All keys, with the last use of each in this process, in epoch milliseconds. */
  list(): readonly { readonly key: Key; readonly source: KeySource; readonly lastUsedAt: number | undefined }[]
  /** Accepts these keys of the source from now on, and no others of it. Requests in progress go on. */
  replace(keys: readonly Key[], source?: KeySource): void
  /** Called for each key that is refused as wrong. */
  readonly onRefused?: ((address: string) => void) | undefined
}

/** The digest of the presented key. One for all: a new buffer for each request costs its collection. */
const digest = Buffer.alloc(32)

/** Longer texts are not hashed. */
const longestKey = 512
const warnBeforeMs = 14 * 86_400_000

/** @example const keys = createAcceptedKeys([{ name: 'crm', key: 'k1', brands: ['1'] }]); keys.find('k1', '192.0.2.1')?.brands // ['1'] */
export function createAcceptedKeys<Key extends AcceptedKey>(
  keys: readonly Key[],
  onRefused?: AcceptedKeys['onRefused'],
): AcceptedKeys<Key> {
  let entries = keys.map((key) => entryOf(key))
  const usedAt = new WeakMap<Key, number>()
  const reportAddress = summarizeRepeats<string>(60_000, (name, count, address) =>
    emit('key.address_refused', { name, address, count }),
  )
  const reportExpired = summarizeRepeats<Key>(60_000, (name, count, { expiresAt = '' }) =>
    emit('key.expired', { name, expiresAt, count }),
  )
  const reportExpiry = summarizeRepeats<Key>(86_400_000, (name, _count, { expiresAt = '' }) =>
    emit('key.expires', { name, expiresAt }),
  )
  return {
    onRefused,
    replace(fresh, source = 'configuration') {
      const former = entries.filter((entry) => entry.source === source)
      // An unchanged key stays the same object: its rate is counted by it.
      const next = fresh.map((key) => former.find((entry) => isDeepStrictEqual(entry.key, key)) ?? entryOf(key, source))
      entries = [...entries.filter((entry) => entry.source !== source), ...next]
    },
    find(presented, address) {
      if (presented === undefined || presented === '' || Buffer.byteLength(presented) > longestKey) return undefined
      digest.write(hash('sha256', presented), 'hex')
      let found: (typeof entries)[number] | undefined
      // No early exit: every key is compared.
      for (const entry of entries) if (timingSafeEqual(digest, entry.digest)) found = entry
      if (found?.isInside?.(address) === false) {
        reportAddress(found.key.name, address)
        return undefined
      }
      return found?.key
    },
    use(key) {
      const now = clock.now()
      const expiresAt = key.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.expiresAt)
      if (now >= expiresAt) {
        reportExpired(key.name, key)
        return false
      }
      if (now >= expiresAt - warnBeforeMs) reportExpiry(key.name, key)
      usedAt.set(key, now)
      return true
    },
    list: () => entries.map(({ key, source }) => ({ key, source, lastUsedAt: usedAt.get(key) })),
  }
}

/** Adds the keys of these lists to the metrics of this process. @returns a function that removes them */
export function measureExpiries(lists: readonly Pick<AcceptedKeys, 'list'>[]): () => void {
  return metrics().keyExpiries(() => {
    const now = clock.now()
    return (
      lists
        .flatMap((keys) => keys.list())
        .filter(({ lastUsedAt }) => lastUsedAt !== undefined)
        .map(({ key: { name, expiresAt = '' } }) => ({ key: name, at: Date.parse(expiresAt) }))
        .filter(({ at }) => at > now)
        // Of two keys with one name, the metric has the one that expires first.
        .toSorted((a, b) => b.at - a.at)
    )
  })
}

const entryOf = <Key extends AcceptedKey>(key: Key, source: KeySource = 'configuration') => ({
  key,
  source,
  digest: Buffer.from(digestOf(key), 'hex'),
  isInside: key.from && createIsInside(key.from),
})

/** The SHA-256 of the key in hexadecimal digits. */
export const digestOf = ({ key, keySha256 }: Pick<AcceptedKey, 'key' | 'keySha256'>): string =>
  keySha256 ?? hash('sha256', key as string)
