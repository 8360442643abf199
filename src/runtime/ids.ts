import { randomFillSync } from 'node:crypto'

// The random ends of 256 identifiers are made at a time: a call for each would cost more than the identifier, and so would
// putting it together from more than three pieces.
const random = Buffer.allocUnsafeSlow(256 * 8)
const endLength = '-8fff-ffffffffffff'.length
let ends = ''
let used = 0

let lastMs = 0
let sequence = 0
let prefix = ''

/**
 * A UUIDv7 (RFC 9562): 48 bits of milliseconds, 12 bits that count within the millisecond, 62 random bits.
 * Identifiers made by one process sort in the order in which they were made, which keeps index inserts together.
 *
 * @example uuidv7() // '019aa7c2-5f3e-7000-9c1b-0242ac120002'
 */
export function uuidv7(now = Date.now()): string {
  if (now > lastMs) begin(now)
  // More than 4,096 in one millisecond, or a clock that went back: borrow from the next millisecond.
  else if (++sequence > 0xfff) begin(lastMs + 1)
  if (used === ends.length) {
    randomFillSync(random)
    for (let at = 0; at < random.length; at += 8) random[at] = 0x80 | ((random[at] as number) & 0x3f)
    ends = random.toString('hex').replace(/(.{4})(.{12})/g, '-$1-$2')
    used = 0
  }
  const at = used
  used += endLength
  return prefix + counts[sequence] + ends.slice(at, used)
}

function begin(ms: number): void {
  lastMs = ms
  sequence = 0
  const time = ms.toString(16).padStart(12, '0')
  prefix = `${time.slice(0, 8)}-${time.slice(8)}-`
}

const counts = Array.from({ length: 0x1000 }, (_, count) => (0x7000 + count).toString(16))

/** The least identifier that could be made at this time: everything made before sorts before it. */
export function firstUuidv7(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/**
 * When a UUIDv7 was made, in epoch milliseconds; undefined where it is none.
 *
 * @example timeOfUuidv7('019aa7c2-5f3e-7000-9c1b-0242ac120002') // 1763733823294
 */
export function timeOfUuidv7(id: string): number | undefined {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined
}
