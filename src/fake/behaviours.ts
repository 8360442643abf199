// Behaviours that a person switches while a fake runs: the requests or messages that each one applies to, and its end.

/** The part of a behaviour that chooses requests or messages. */
export interface Choice<Endpoint extends string> {
  /** Default: all endpoints. */
  readonly endpoint?: Endpoint
  /** Only messages to this user, or requests with such a message. */
  readonly user?: string
  /** Every n-th matching request or message. Default: 1. */
  readonly every?: number
  /** The behaviour ends after this number of requests or messages. Default: it does not end. */
  readonly times?: number
}

export interface ActiveBehaviour<Behaviour> {
  readonly id: number
  readonly behaviour: Behaviour
}

export interface Behaviours<Behaviour extends Choice<string>> {
  readonly active: readonly ActiveBehaviour<Behaviour>[]
  add(behaviour: Behaviour): ActiveBehaviour<Behaviour>
  /** @returns whether the behaviour existed */
  remove(id: number): boolean
  /** The first behaviour that applies, in the order in which they were added. */
  find(
    endpoint: string,
    users: ReadonlySet<string>,
    fits: (behaviour: Behaviour) => boolean,
  ): ActiveBehaviour<Behaviour> | undefined
}

/** @example const behaviours = createBehaviours<Behaviour>(); behaviours.add({ every: 3, answer: { status: 500 } }) */
export function createBehaviours<Behaviour extends Choice<string>>(): Behaviours<Behaviour> {
  const active = new Map<number, ActiveBehaviour<Behaviour> & { seen: number; left: number }>()
  let last = 0
  return {
    get active() {
      return [...active.values()].map(({ id, behaviour }) => ({ id, behaviour }))
    },
    add(behaviour) {
      const id = ++last
      active.set(id, { id, behaviour, seen: 0, left: behaviour.times ?? Number.POSITIVE_INFINITY })
      return { id, behaviour }
    },
    remove: (id) => active.delete(id),
    find(endpoint, users, fits) {
      for (const entry of active.values()) {
        const { behaviour, id } = entry
        const { user, every = 1 } = behaviour
        if (!fits(behaviour) || (behaviour.endpoint ?? endpoint) !== endpoint) continue
        if (user !== undefined && !users.has(user)) continue
        entry.seen++
        if (entry.seen % every !== 0) continue
        if (--entry.left <= 0) active.delete(id)
        return { id, behaviour }
      }
      return undefined
    },
  }
}

type Member = readonly [expected: string, fits: (value: unknown) => boolean]
export type Members<Behaviour> = Readonly<Record<keyof Behaviour, Member>>

/**
 * Reads a behaviour with exactly one deviation.
 *
 * @param deviations the members of which one must be named
 * @throws an Error that names the wrong member
 */
export function readMembers<Behaviour extends object>(
  body: Readonly<Record<string, unknown>>,
  members: Members<Behaviour>,
  deviations: readonly (keyof Behaviour & string)[],
): Behaviour {
  for (const [name, value] of Object.entries(body)) {
    const member = Object.hasOwn(members, name) ? members[name as keyof Behaviour] : undefined
    if (!member) throw new Error(`${name} is unknown: the members are ${Object.keys(members).join(', ')}`)
    if (!member[1](value)) throw new Error(`${name} must be ${member[0]}`)
  }
  const behaviour = body as Behaviour
  if (deviations.filter((name) => behaviour[name] !== undefined).length !== 1)
    throw new Error(`name one of ${deviations.join(', ')}: a second behaviour adds the next one`)
  return behaviour
}

export const oneOf = (...words: readonly string[]): Member => [
  `one of ${words.join(', ')}`,
  (value) => words.includes(value as string),
]
const count: Member = ['a whole number from 1', (value) => Number.isSafeInteger(value) && (value as number) > 0]

/** The members of Choice, apart from the endpoint. */
export const choiceMembers = {
  user: ['a user_id as text', (value: unknown) => typeof value === 'string' && value !== ''],
  every: count,
  times: count,
} as const

export const milliseconds: Member = [
  'milliseconds',
  (value) => typeof value === 'number' && value >= 0 && value <= 3_600_000,
]
export const onlyTrue: Member = ['true', (value) => value === true]

/** An answer in place of the real one. */
export interface FixedAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

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
