// The behaviours of a fake operator: how it deviates from a correct one, and for which requests or messages.

import { type FixedAnswer, fixedAnswer, milliseconds, oneOf, onlyTrue } from '../../base/runtime/fault-script.ts'
import { type Channel, type Mode, reconciliation, sendEndpoints } from '../../contract/endpoints.ts'
import { type Choice, choiceMembers, type Members, readMembers } from './behaviours.ts'

/** An endpoint of §4.1: `push/single`, `push/batch`, `site/single`, `site/batch` or `reconciliation`. */
export type FakeEndpoint = `${Channel}/${Mode}` | 'reconciliation'
export const fakeEndpoints = ['push/single', 'push/batch', 'site/single', 'site/batch', 'reconciliation'] as const

/** @example endpointOf('/channels/push/batch') // 'push/batch' */
export function endpointOf(path: string): FakeEndpoint | undefined {
  if (path === reconciliation.path) return 'reconciliation'
  const found = sendEndpoints.find((each) => each.path === path)
  return found && `${found.channel}/${found.mode}`
}

/** With `outcome`, `every` and `times` count messages, otherwise requests. */
export interface Behaviour extends Choice<FakeEndpoint> {
  /** The answer is delayed. */
  readonly delay_ms?: number
  /** The request is never answered. Its messages are not delivered. */
  readonly hang?: true
  /** The connection is cut: before the messages are delivered, or afterwards, so that the answer is lost. */
  readonly cut?: 'before' | 'after'
  /** The answer instead of the real one. The messages are not delivered. */
  readonly answer?: FixedAnswer
  /** The outcome of the messages (§7.2), which are not delivered. absent: they are missing from the answer to a batch. */
  readonly outcome?: 'failed' | 'fatal' | 'absent'
}

/** @throws an Error that names the wrong member */
export function readBehaviour(body: Readonly<Record<string, unknown>>): Behaviour {
  const behaviour = readMembers(body, members, ['delay_ms', 'hang', 'cut', 'answer', 'outcome'])
  if (behaviour.outcome !== undefined && behaviour.endpoint === 'reconciliation')
    throw new Error('outcome is for the send endpoints: reconciliation has no outcomes')
  return behaviour
}

const members: Members<Behaviour> = {
  endpoint: oneOf(...fakeEndpoints),
  ...choiceMembers,
  delay_ms: milliseconds,
  hang: onlyTrue,
  cut: oneOf('before', 'after'),
  answer: fixedAnswer,
  outcome: oneOf('failed', 'fatal', 'absent'),
}
