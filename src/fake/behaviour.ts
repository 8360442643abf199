// The behaviours of a fake operator: how it deviates from a correct one, and for which requests or messages.

import { type Channel, type Mode, reconciliation, sendEndpoints } from '../contract/endpoints.ts'

/** An endpoint of §4.1: `push/single`, `push/batch`, `site/single`, `site/batch` or `reconciliation`. */
export type FakeEndpoint = `${Channel}/${Mode}` | 'reconciliation'

/** @example endpointOf('/channels/push/batch') // 'push/batch' */
export function endpointOf(path: string): FakeEndpoint | undefined {
  if (path === reconciliation.path) return 'reconciliation'
  const found = sendEndpoints.find((each) => each.path === path)
  return found && `${found.channel}/${found.mode}`
}

export interface Behaviour {
  /** Default: all endpoints. */
  readonly endpoint?: FakeEndpoint
  /** Only messages to this user, or requests with such a message. */
  readonly user?: string
  /** Every n-th matching request; with `outcome`, every n-th matching message. Default: 1. */
  readonly every?: number
  /** The behaviour ends after this number of requests or messages. Default: it does not end. */
  readonly times?: number
  /** The answer is delayed. */
  readonly delay_ms?: number
  /** The request is never answered. Its messages are not delivered. */
  readonly hang?: true
  /** The connection is cut: before the messages are delivered, or afterwards, so that the answer is lost. */
  readonly cut?: 'before' | 'after'
  /** The answer instead of the real one. The messages are not delivered. */
  readonly answer?: {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
  /** The outcome of the messages (§7.2), which are not delivered. absent: they are missing from the answer to a batch. */
  readonly outcome?: 'failed' | 'fatal' | 'absent'
}

/** @throws an Error that names the wrong member */
export function readBehaviour(body: Readonly<Record<string, unknown>>): Behaviour {
  for (const [name, value] of Object.entries(body)) {
    const member = Object.hasOwn(members, name) ? members[name as keyof Behaviour] : undefined
    if (!member) throw new Error(`${name} is unknown: the members are ${Object.keys(members).join(', ')}`)
    if (!member[1](value)) throw new Error(`${name} must be ${member[0]}`)
  }
  const behaviour = body as Behaviour
  const deviations = deviationNames.filter((name) => behaviour[name] !== undefined)
  if (deviations.length !== 1)
    throw new Error(`name one of ${deviationNames.join(', ')}: a second behaviour adds the next one`)
  if (behaviour.outcome !== undefined && behaviour.endpoint === 'reconciliation')
    throw new Error('outcome is for the send endpoints: reconciliation has no outcomes')
  return behaviour
}

const deviationNames = ['delay_ms', 'hang', 'cut', 'answer', 'outcome'] as const

type Member = readonly [expected: string, fits: (value: unknown) => boolean]

const oneOf = (...words: readonly string[]): Member => [
  `one of ${words.join(', ')}`,
  (value) => words.includes(value as string),
]
const count: Member = ['a whole number from 1', (value) => Number.isSafeInteger(value) && (value as number) > 0]

const members: Readonly<Record<keyof Behaviour, Member>> = {
  endpoint: oneOf('push/single', 'push/batch', 'site/single', 'site/batch', 'reconciliation'),
  user: ['a user_id as text', (value) => typeof value === 'string' && value !== ''],
  every: count,
  times: count,
  delay_ms: ['milliseconds', (value) => typeof value === 'number' && value >= 0 && value <= 3_600_000],
  hang: ['true', (value) => value === true],
  cut: oneOf('before', 'after'),
  answer: ['{"status": 200 to 599, "headers"?: {…}, "body"?: "…"}', isAnswer],
  outcome: oneOf('failed', 'fatal', 'absent'),
}

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

export interface ActiveBehaviour {
  readonly id: number
  readonly behaviour: Behaviour
}

export interface Behaviours {
  readonly active: readonly ActiveBehaviour[]
  add(behaviour: Behaviour): ActiveBehaviour
  /** @returns whether the behaviour existed */
  remove(id: number): boolean
  /** The behaviour of a request: the first that matches, in the order in which they were added. */
  ofRequest(endpoint: FakeEndpoint, users: ReadonlySet<string>): ActiveBehaviour | undefined
  /** The outcome of one message. */
  ofMessage(endpoint: FakeEndpoint, user: string): Behaviour['outcome']
}

/** @example const behaviours = createBehaviours(); behaviours.add({ every: 3, answer: { status: 500 } }) */
export function createBehaviours(): Behaviours {
  const active = new Map<number, ActiveBehaviour & { seen: number; left: number }>()
  let last = 0

  function match(endpoint: FakeEndpoint, fits: (behaviour: Behaviour) => boolean): ActiveBehaviour | undefined {
    for (const entry of active.values()) {
      const { behaviour, id } = entry
      if (!fits(behaviour) || (behaviour.endpoint ?? endpoint) !== endpoint) continue
      entry.seen++
      if (entry.seen % (behaviour.every ?? 1) !== 0) continue
      if (--entry.left <= 0) active.delete(id)
      return { id, behaviour }
    }
    return undefined
  }

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
    ofRequest: (endpoint, users) =>
      match(endpoint, ({ outcome, user }) => outcome === undefined && (user === undefined || users.has(user))),
    ofMessage: (endpoint, to) =>
      match(endpoint, ({ outcome, user }) => outcome !== undefined && (user === undefined || user === to))?.behaviour
        .outcome,
  }
}
