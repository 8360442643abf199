// The behaviours of a fake platform: how it deviates from a correct one, and for which requests.

import { type FixedAnswer, fixedAnswer, milliseconds, oneOf, onlyTrue } from '../../base/runtime/fault-script.ts'
import { deviceLink, deviceUnlink } from '../../contract/endpoints.ts'
import { type FakeEndpoint, fakeEndpoints } from './behaviour.ts'
import { type Behaviours, type Choice, choiceMembers, findBehaviour, type Members, readMembers } from './behaviours.ts'

export type DeviceEndpoint = 'device/link' | 'device/unlink'
/** An endpoint of the operator, which the platform calls, or of the platform, which the operator calls (§4.2). */
export type PlatformEndpoint = FakeEndpoint | DeviceEndpoint

export function deviceEndpointOf(path: string): DeviceEndpoint | undefined {
  if (path === deviceLink.path) return 'device/link'
  return path === deviceUnlink.path ? 'device/unlink' : undefined
}

export interface PlatformBehaviour extends Choice<PlatformEndpoint> {
  /** Requests to the operator: each is sent a second time, after its answer or at the same time. */
  readonly repeat?: 'after' | 'at_once'
  /** Requests to the operator have no API key, or another one. */
  readonly key?: 'none' | 'other'
  /** Requests to the operator: the body is written in pieces over this time. */
  readonly write_ms?: number
  /**
   * The connection is cut. Requests to the operator: within the body, or before the answer is read. Device links: before they are
   * stored, or before the answer.
   */
  readonly cut?: 'before' | 'after'
  /** Device links: the answer is delayed. */
  readonly delay_ms?: number
  /** Device links: no answer. They are not stored. */
  readonly hang?: true
  /** Device links: the answer instead of the real one. They are not stored. */
  readonly answer?: FixedAnswer
}

const toOperator = ['repeat', 'key', 'write_ms', 'cut'] as const
const toPlatform = ['cut', 'delay_ms', 'hang', 'answer'] as const

/** @throws an Error that names the wrong member */
export function readPlatformBehaviour(body: Readonly<Record<string, unknown>>): PlatformBehaviour {
  const behaviour = readMembers(body, members, [...new Set([...toOperator, ...toPlatform])])
  const { endpoint } = behaviour
  if (endpoint !== undefined && !isPossible(behaviour, endpoint))
    throw new Error(`${endpoint} can have one of ${possibleAt(endpoint).join(', ')}`)
  return behaviour
}

const isDevice = (endpoint: PlatformEndpoint): endpoint is DeviceEndpoint => endpoint.startsWith('device/')
const possibleAt = (endpoint: PlatformEndpoint): readonly (keyof PlatformBehaviour)[] =>
  isDevice(endpoint) ? toPlatform : toOperator
const isPossible = (behaviour: PlatformBehaviour, endpoint: PlatformEndpoint): boolean =>
  possibleAt(endpoint).some((name) => behaviour[name] !== undefined)

const members: Members<PlatformBehaviour> = {
  endpoint: oneOf(...fakeEndpoints, 'device/link', 'device/unlink'),
  ...choiceMembers,
  repeat: oneOf('after', 'at_once'),
  key: oneOf('none', 'other'),
  write_ms: milliseconds,
  cut: oneOf('before', 'after'),
  delay_ms: milliseconds,
  hang: onlyTrue,
  answer: fixedAnswer,
}

/** The behaviour of a request. */
export function platformBehaviourOf(
  behaviours: Behaviours<PlatformBehaviour>,
  endpoint: PlatformEndpoint,
  users: ReadonlySet<string>,
): PlatformBehaviour | undefined {
  return findBehaviour(behaviours, endpoint, users, (behaviour) => isPossible(behaviour, endpoint))
}
