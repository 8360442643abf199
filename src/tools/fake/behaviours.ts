// Behaviours that a person switches while a fake runs: the requests or messages that each one applies to.

import { checkMembers, count, type FaultScript, type Member } from '../../base/runtime/fault-script.ts'

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

export type Behaviours<Behaviour extends Choice<string>> = FaultScript<Behaviour>

/** The first behaviour for a request to this endpoint with messages to these users. */
export const findBehaviour = <Behaviour extends Choice<string>>(
  behaviours: Behaviours<Behaviour>,
  endpoint: string,
  users: ReadonlySet<string>,
  fits: (behaviour: Behaviour) => boolean,
): Behaviour | undefined =>
  behaviours.find(
    (each) =>
      fits(each) && (each.endpoint ?? endpoint) === endpoint && (each.user === undefined || users.has(each.user)),
  )

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
  checkMembers(body, members)
  const behaviour = body as Behaviour
  if (deviations.filter((name) => behaviour[name] !== undefined).length !== 1)
    throw new Error(`name one of ${deviations.join(', ')}: a second behaviour adds the next one`)
  return behaviour
}

/** The members of Choice, apart from the endpoint. */
export const choiceMembers = {
  user: ['a user_id as text', (value: unknown) => typeof value === 'string' && value !== ''],
  every: count,
  times: count,
} as const
