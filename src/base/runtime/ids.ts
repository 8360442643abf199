import { clock } from './clock.ts'
import { random } from './random.ts'

// The random suffixes of 256 identifiers are generated at once: a call to the random generator for each would cost more than the
// rest of the identifier, and so would concatenating more than three strings.
const suffixBytes = Buffer.allocUnsafeSlow(256 * 8)
const suffixLength = '-8fff-ffffffffffff'.length
let suffixes = ''
let used = 0

let lastMs = 0
let sequence = 0
let prefix = ''

/**
 * A UUIDv7 (RFC 9562): 48 bits of milliseconds, a 12-bit counter within the millisecond, 62 random bits.
 * Identifiers of one process sort in creation order, so that index inserts stay next to each other.
 *
 * @example uuidv7() // '019aa7c2-5f3e-7000-9c1b-0242ac120002'
 */
export function uuidv7(now = clock.now()): string {
  if (now > lastMs) startMillisecond(now)
  // More than 4,096 in one millisecond, or the clock was set back: use the next millisecond.
  else if (++sequence > 0xfff) startMillisecond(lastMs + 1)
  if (used === suffixes.length) {
    random.fill(suffixBytes)
    for (let at = 0; at < suffixBytes.length; at += 8) suffixBytes[at] = 0x80 | ((suffixBytes[at] as number) & 0x3f)
    suffixes = suffixBytes.toString('hex').replace(/(.{4})(.{12})/g, '-$1-$2')
    used = 0
  }
  const at = used
  used += suffixLength
  return prefix + counters[sequence] + suffixes.slice(at, used)
}

function startMillisecond(ms: number): void {
  lastMs = ms
  sequence = 0
  const time = ms.toString(16).padStart(12, '0')
  prefix = `${time.slice(0, 8)}-${time.slice(8)}-`
}

const counters = Array.from({ length: 0x1000 }, (_, count) => (0x7000 + count).toString(16))

/** The smallest identifier of this millisecond: all identifiers created earlier sort before it. */
export function firstUuidv7(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/**
 * The creation time of a UUIDv7 in epoch milliseconds; undefined if `id` is not a UUIDv7.
 *
 * @example timeOfUuidv7('019aa7c2-5f3e-7000-9c1b-0242ac120002') // 1763733823294
 */
export function timeOfUuidv7(id: string): number | undefined {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined
}
