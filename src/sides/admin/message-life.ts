// Composes the life of a message from the answers of both sides. Pure.

import { present } from '../../base/runtime/present.ts'
import { readMessageKey } from '../../contract/message-key.ts'
import { reconciliationFields } from '../../contract/records.ts'
import type { AnswerOf, SideName } from './calls.ts'

type Pause = AnswerOf<'platform', 'GET /admin/lanes'>['lanes'][number]['pauses'][number]
export type PlatformMessage = AnswerOf<'platform', 'GET /admin/messages/:seq'>
/** A message at the side that delivers it: the operator, or the platform itself. */
export type Delivery = NonNullable<PlatformMessage['delivery']>

/** @example phraseDecision('excluded') // 'excluded forbids it' */
export const phraseDecision = (decided: string): string =>
  reconciliationFields.some((field) => field === decided) ? `${decided} forbids it` : decided

export interface Step {
  /** Epoch milliseconds. Null: now. */
  readonly at: number | null
  readonly side: SideName
  readonly step:
    | 'enqueued'
    | 'call'
    | 'claimed'
    | 'device'
    | 'attempt'
    | 'replayed'
    | 'dismissed'
    | 'settled'
    | 'reported'
    | 'waits'
  readonly state?: string
  readonly rule?: string
  /** The process, if the side has stored it. */
  readonly process?: string
  readonly attempt?: number
  readonly reason?: string
  /** The HTTP status of the answer. */
  readonly status?: number
  readonly error?: string
  /** The beginning of the answer. */
  readonly answer?: string
  readonly call?: string
  readonly provider?: string
  /** The duration of the call, and the number of its messages. */
  readonly ms?: number
  readonly messages?: number
  /** A hash of the token. */
  readonly device?: string
  readonly service?: string
  readonly provider_id?: string
  readonly uncertain?: true
  readonly ref?: string
  /** The name of the key that replayed or dismissed the message. */
  readonly by?: string
  readonly expires_at?: number
  readonly transactional?: true
  /** The pauses that hold the message back. */
  readonly pauses?: readonly Pause[]
  readonly held_for_ms?: number
  readonly held_reason?: string
  readonly next_try_at?: number
}

export interface Life {
  readonly brand: string
  readonly channel: string
  readonly id: string
  readonly user_id: string
  readonly activity: string | null
  readonly action: string | null
  /** All identifiers, the present one last. */
  readonly identifiers: PlatformMessage['identifiers']
  /** Absent: the side was not asked, or has no such message. */
  readonly platform?: Pick<
    PlatformMessage,
    'seq' | 'lane' | 'outcome' | 'attempts' | 'replays' | 'untracked' | 'erased' | 'failed' | 'status'
  >
  readonly operator?: Pick<Delivery, 'ref' | 'outcome' | 'attempts' | 'uncertain' | 'permission'>
  /** The platform delivers the message itself: its lane has no operator. */
  readonly delivery?: NonNullable<Life['operator']>
  /** In order of time. The clocks of the two sides may differ. */
  readonly steps: readonly Step[]
}

/** Composes the life of the message with this brand and key. */
export function composeLife(
  { brand, key }: { readonly brand: string; readonly key: string },
  { platform, operator }: { readonly platform?: PlatformMessage; readonly operator?: Delivery },
): Life {
  const { channel, id, userId, activityId, actionId } = readMessageKey(key)
  // Steps of the same millisecond stay in this order.
  const steps = [
    ...(platform ? [enqueued(platform), ...platform.calls.map((call) => callStep('platform', call))] : []),
    ...(operator ? deliverySteps(operator, 'operator') : []),
    ...(platform?.delivery ? deliverySteps(platform.delivery, 'platform') : []),
    ...(platform ? [...resultsAtPlatform(platform), ...reportedStatuses(platform)] : []),
  ].sort((a, b) => (a.at ?? Number.MAX_SAFE_INTEGER) - (b.at ?? Number.MAX_SAFE_INTEGER))
  const refs = platform?.identifiers ?? []
  const isUnknown = operator && !refs.some(({ ref }) => ref === operator.ref)
  return {
    brand,
    channel,
    id,
    user_id: userId,
    activity: activityId,
    action: actionId,
    identifiers: isUnknown ? [...refs, { ref: operator.ref, replayed_at: null }] : refs,
    ...(platform && { platform: statusAtPlatform(platform) }),
    ...(operator && { operator: deliveryStatus(operator) }),
    ...(platform?.delivery && { delivery: deliveryStatus(platform.delivery) }),
    steps,
  }
}

function statusAtPlatform(message: PlatformMessage): NonNullable<Life['platform']> {
  const { seq, lane, outcome, attempts, replays, untracked, erased, failed, status } = message
  return {
    seq,
    lane,
    outcome,
    ...present({ attempts, replays, untracked, erased, failed, status }),
  }
}

const deliveryStatus = ({ ref, outcome, attempts, uncertain, permission }: Delivery) => ({
  ref,
  outcome,
  attempts,
  uncertain,
  permission,
})

const enqueued = ({ enqueued_at: at, expires_at, transactional }: PlatformMessage): Step => ({
  at,
  side: 'platform',
  step: 'enqueued',
  ...present({ expires_at, transactional }),
})

function callStep(
  side: SideName,
  { id, provider, at, ms, messages, rule, answer, error }: PlatformMessage['calls'][number],
): Step {
  // The answer and the error of a call with several messages may be those of another message.
  const ofMessage = messages === 1 ? present({ answer, error }) : {}
  return { at, side, step: 'call', call: id, provider, ms, messages, ...(messages === 1 && { rule }), ...ofMessage }
}

function resultsAtPlatform(message: PlatformMessage): Step[] {
  const { history = [], failed, outcome, settled_at: settledAt, identifiers } = message
  const side = 'platform'
  const steps = history.flatMap((each): Step[] => {
    const { attempt, at, outcome: state, rule, reason, status, error, answer, call } = each
    const tried: Step = {
      at,
      side,
      step: 'attempt',
      state,
      rule,
      attempt,
      reason,
      ...present({ status, error, answer, call }),
    }
    if (each.replayed_at === null) return [tried]
    const ref = identifiers.find(({ replayed_at: until }) => until === each.replayed_at)?.ref
    return [tried, { at: each.replayed_at, side, step: 'replayed', ...present({ by: each.replayed_by, ref }) }]
  })
  if (failed?.state === 'dismissed')
    steps.push({ at: failed.decided_at, side, step: 'dismissed', ...present({ by: failed.decided_by }) })
  if (outcome === 'waiting') return [...steps, waits(message)]
  const last = history.at(-1)
  const isInHistory = outcome === 'failed' && last?.outcome === 'failed' && last.replayed_at === null
  if (settledAt === undefined || isInHistory) return steps
  const { attempts: attempt, rule, reason, error, ref, call } = message
  const end: Step = {
    at: settledAt,
    side,
    step: 'settled',
    state: outcome,
    ...present({ rule, attempt, reason, error, call, ref }),
  }
  return [...steps, end]
}

/** The statuses that the operator reported, at the operator's times. */
const reportedStatuses = ({ statuses = [] }: PlatformMessage): Step[] =>
  statuses.map(({ status, at, ref }) => ({
    at: Date.parse(at),
    side: 'platform',
    step: 'reported',
    state: status,
    ref,
  }))

function waits({ key, reason, error, lane_owner: process, lane_state: lane }: PlatformMessage): Step {
  const { activityId, actionId } = readMessageKey(key)
  const pauses = (lane?.pauses ?? []).filter(
    ({ activity, action }) =>
      (activity === undefined || activity === activityId) && (action === undefined || action === actionId),
  )
  const step = { at: null, side: 'platform', step: 'waits', ...present({ process }) } as const
  if (pauses.length > 0) return { ...step, state: 'paused', pauses }
  return {
    ...step,
    ...present({ state: lane?.state, reason, error: error ?? lane?.last_error }),
    ...present({
      held_for_ms: lane?.held_reason === undefined ? undefined : lane.held_for_ms,
      held_reason: lane?.held_reason,
      next_try_at: lane?.next_try_at,
    }),
  }
}

function deliverySteps(message: Delivery, side: SideName): Step[] {
  const { claimed_at: claimedAt, updated_at: updatedAt, attempts, owner, outcome, rule, error, refusals } = message
  const steps: Step[] = [
    { at: claimedAt, side, step: 'claimed', ref: message.ref, ...(attempts === 1 && { process: owner }) },
    ...message.calls.map((call) => callStep(side, call)),
    ...message.devices.map(
      ({ attempt, at, device, service, category: state, rule, provider_id, answer, error, uncertain }): Step => ({
        at,
        side,
        step: 'device',
        state,
        rule,
        attempt,
        device,
        ...(service !== '' && { service }),
        ...present({ provider_id, error, answer }),
        ...(uncertain > 0 && { uncertain: true as const }),
      }),
    ),
    ...refusals.map(
      ({ attempt, at, category: state, rule, reason, error, answer, call, uncertain }): Step => ({
        at,
        side,
        step: 'attempt',
        state,
        rule,
        ...(attempt === attempts && { process: owner }),
        attempt,
        reason,
        ...present({ error, answer, call }),
        ...(uncertain > 0 && { uncertain: true as const }),
      }),
    ),
  ]
  if (outcome === 'in_flight') {
    if (attempts > 1) steps.push({ at: updatedAt, side, step: 'claimed', process: owner, attempt: attempts })
    return steps
  }
  if (refusals.some(({ attempt }) => attempt === attempts)) return steps
  const end = { at: updatedAt, side, step: 'settled', state: outcome, rule, process: owner, attempt: attempts } as const
  return [...steps, { ...end, ...present({ error }) }]
}
