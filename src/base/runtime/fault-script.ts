// The script of a fake or a stand-in: the faults that it plays, the requests that each fault applies to, and its end.

export interface Repetition {
  /** Every n-th matching request. Default: 1, each request. */
  readonly every?: number
  /** The share of matching requests, from 0 to 1. Random with a fixed seed, so that a run can be repeated. */
  readonly share?: number
  /** The fault ends after this number of requests. Default: it does not end. */
  readonly times?: number
}

export interface FaultScript<Fault> {
  /** The faults that have not ended, by number. */
  readonly active: ReadonlyMap<number, Fault>
  /** @returns the number of the fault */
  add(fault: Fault): number
  /** @returns whether the fault was active */
  remove(id: number): boolean
  /** The first fault that applies, in the order in which they were added. A fault counts the requests that match it. */
  find(matches: (fault: Fault) => boolean): Fault | undefined
}

/** @example const script = createFaultScript<Fault>(); script.add({ every: 500, goaway: true }); script.find(() => true) */
export function createFaultScript<Fault extends Repetition>(seed = 1): FaultScript<Fault> {
  const active = new Map<number, Fault>()
  const counts = new Map<number, { seen: number; left: number }>()
  let state = seed
  let last = 0

  const remove = (id: number): boolean => counts.delete(id) && active.delete(id)

  return {
    active,
    add(fault) {
      active.set(++last, fault)
      counts.set(last, { seen: 0, left: fault.times ?? Number.POSITIVE_INFINITY })
      return last
    },
    remove,
    find(matches) {
      for (const [id, fault] of active) {
        const count = counts.get(id)
        if (!count || !matches(fault)) continue
        count.seen++
        if (count.seen % (fault.every ?? 1) !== 0) continue
        if (fault.share !== undefined && random() >= fault.share) continue
        if (--count.left <= 0) remove(id)
        return fault
      }
      return undefined
    },
  }

  /** The random number generator mulberry32. */
  function random(): number {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** An answer in place of the real one. */
export interface FixedAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export type Member = readonly [expected: string, fits: (value: unknown) => boolean]

/**
 * Checks the members of a fault. Unknown members are refused: with a misspelt fault, a test would prove nothing.
 *
 * @throws an Error that names the wrong member
 */
export function checkMembers(body: Readonly<Record<string, unknown>>, members: Readonly<Record<string, Member>>): void {
  for (const [name, value] of Object.entries(body)) {
    const member = Object.hasOwn(members, name) ? members[name] : undefined
    if (!member) throw new Error(`${name} is unknown; known are ${Object.keys(members).join(', ')}`)
    if (!member[1](value)) throw new Error(`${name} must be ${member[0]}`)
  }
}

export const oneOf = (...words: readonly string[]): Member => [
  `one of ${words.join(', ')}`,
  (value) => words.includes(value as string),
]
export const count: Member = ['a whole number from 1', (value) => Number.isSafeInteger(value) && (value as number) > 0]
export const milliseconds: Member = [
  'milliseconds',
  (value) => typeof value === 'number' && value >= 0 && value <= 3_600_000,
]
export const onlyTrue: Member = ['true', (value) => value === true]
export const fixedAnswer: Member = ['{"status": 200 to 599, "headers"?: {…}, "body"?: "…"}', isAnswer]

function isAnswer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { status, headers = {}, body = '', ...others } = value as Readonly<Record<string, unknown>>
  return (
    Number.isInteger(status) &&
    (status as number) >= 200 &&
    (status as number) <= 599 &&
    typeof headers === 'object' &&
    headers !== null &&
    Object.values(headers).every((each) => typeof each === 'string') &&
    typeof body === 'string' &&
    Object.keys(others).length === 0
  )
}
