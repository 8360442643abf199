// The text of the lives of messages, as `bellwire explain` prints it.

import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import { readMessageKey } from '../../../contract/message-key.ts'
import type { SideName } from '../../../sides/admin/calls.ts'
import { type Life, phraseDecision, type Step } from '../../../sides/admin/message-life.ts'
import { identifierFacts } from '../failed/items.ts'
import { phraseHold, phrasePause, phraseTime } from '../lanes/show-lanes.ts'
import { factLines, isoTime, textTable } from '../text-table.ts'
import { type Match, timeOf } from './find.ts'

/** Why a side has no part of a message. */
export type Absences = Readonly<Record<SideName, string>>

export function phraseLife(life: Life, absences: Absences): string {
  const { id, user_id: user, brand, channel, activity, action, identifiers } = life
  const facts: (readonly [string, string])[] = [
    ['Message', `activity.id ${id} to user ${user}, brand ${brand}, ${channel}`],
    ['Activity', `${activity ?? '–'}, action ${action ?? '–'}`],
    ...identifierFacts(identifiers),
    ['Platform', life.platform ? phrasePlatform(life.platform) : absences.platform],
    life.delivery
      ? ['Delivery', `by the platform itself: ${phraseDelivery(life.delivery)}`]
      : ['Operator', life.operator ? phraseDelivery(life.operator) : absences.operator],
    ...permissionFacts(life.delivery ?? life.operator),
  ]
  return [...factLines(facts), '', phraseSteps(life.steps)].join('\n')
}

function phrasePlatform(status: NonNullable<Life['platform']>): string {
  const { outcome, attempts, replays, seq, lane, untracked, erased, failed, status: reported } = status
  return [
    `${outcome}${attempts === undefined ? '' : ` after ${phraseCount(attempts, 'attempt')}`}`,
    ...(reported === undefined ? [] : [`${reported} as the operator reported`]),
    `number ${seq} in lane ${lane}`,
    ...(untracked ? ['the answer has no identifier'] : []),
    ...(outcome === 'failed' && failed ? [`${failed.state} in Failed Actions`] : []),
    ...(replays === undefined ? [] : [`replayed ${replays === 1 ? 'once' : `${replays} times`}`]),
    ...(erased ? ['text erased'] : []),
  ].join(', ')
}

function phraseDelivery({ outcome, attempts, uncertain }: NonNullable<Life['operator']>): string {
  const lost = uncertain === 0 ? '' : `, ${phraseCount(uncertain, 'attempt')} without an answer may have arrived`
  return `${outcome} after ${phraseCount(attempts, 'attempt')}${lost}`
}

/** @example 'nothing forbids it: excluded no, blocked no' */
function permissionFacts(delivery: Life['operator']): (readonly [string, string])[] {
  if (!delivery) return []
  const { permission } = delivery
  if (!permission) return [['Permission', 'not checked']]
  const { decided, fields, exempt, source, read_at: readAt, as_of: asOf } = permission
  const values = Object.entries(fields).map(([field, value]) => `${field} ${value ? 'yes' : 'no'}`)
  return [
    [
      'Permission',
      [phraseDecision(decided), ...(exempt ? ['a service message'] : []), values.join(', ')].filter(Boolean).join('; '),
    ],
    ['Checked', `in ${source}, ${asOf === null ? '' : `as of ${isoTime(asOf)}, `}read at ${isoTime(readAt)}`],
  ]
}

const columns = ['TIME', 'SIDE', 'STEP', 'STATE', 'RULE', 'PROCESS', 'DETAILS'].map((title) => ({
  title,
  ...(title === 'RULE' && { most: 40 }),
}))

/** A table with one row for each step. The lines under a row are its error and its answer. */
function phraseSteps(steps: readonly Step[]): string {
  const rows = steps.map((step) => [
    step.at === null ? 'now' : isoTime(step.at),
    step.side,
    step.attempt === undefined || step.step === 'settled' ? step.step : `${step.step} ${step.attempt}`,
    step.state ?? '',
    step.rule ?? '',
    step.process ?? '',
    detailsOf(step).join(', '),
  ])
  const notes = steps.map((step) => notesOf(step).map((each) => `    ${each}`))
  return textTable(columns, rows, notes)
}

function detailsOf(step: Step): string[] {
  const { expires_at: expires, transactional, service, device, provider, messages, ms, reason, status, call } = step
  return [
    ...(transactional ? ['transactional'] : []),
    ...(expires === undefined ? [] : [`expires at ${isoTime(expires)}`]),
    ...(device === undefined ? [] : [`device ${device}`]),
    ...(service === undefined ? [] : [service]),
    ...(step.provider_id === undefined ? [] : [step.provider_id]),
    ...(provider === undefined || messages === undefined || ms === undefined
      ? []
      : [`${provider}, ${phraseCount(messages, 'message')}, ${phraseTime(ms)}`]),
    ...(step.by === undefined ? [] : [`by ${step.by}`]),
    ...(reason === undefined ? [] : [reason]),
    ...(status === undefined ? [] : [`HTTP status ${status}`]),
    ...(step.ref === undefined ? [] : [`identifier ${step.ref}`]),
    ...(step.uncertain ? ['no answer, it may have arrived'] : []),
    ...(call === undefined ? [] : [`call ${call}`]),
  ]
}

function notesOf({ error, answer, pauses = [], held_for_ms: heldMs, held_reason, next_try_at }: Step): string[] {
  return [
    ...pauses.map(phrasePause),
    ...(heldMs === undefined ? [] : [`the lane is ${phraseHold({ held_for_ms: heldMs, held_reason, next_try_at })}`]),
    ...(error === undefined || error === held_reason ? [] : [`error: ${error}`]),
    ...(answer === undefined ? [] : [`answer: ${answer}`]),
  ]
}

const listColumns = [
  'TIME',
  'BRAND',
  'CHANNEL',
  'ACTIVITY.ID',
  'ACTIVITY',
  'ACTION',
  'IDENTIFIER',
  'PLATFORM',
  'OPERATOR',
].map((title) => ({ title }))

/** A table with one row for each message. */
export function phraseMatches(matches: readonly Match[]): string {
  const rows = matches.map((match) => {
    const { channel, id, activityId, actionId } = readMessageKey(match.key)
    return [
      isoTime(timeOf(match)),
      match.brand,
      channel,
      id,
      activityId ?? '–',
      actionId ?? '–',
      match.platform?.ref ?? match.operator?.ref ?? '–',
      match.platform?.outcome ?? '–',
      match.operator?.outcome ?? '–',
    ]
  })
  return textTable(listColumns, rows)
}
