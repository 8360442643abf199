// Formats single failed items: a list, and one item with its attempts.

import { escapeControls } from '../../../base/runtime/log-text.ts'
import type { AnswerOf } from '../../../sides/admin/calls.ts'
import { factLines, isoTime, textTable } from '../text-table.ts'

export type FailedList = AnswerOf<'platform', 'GET /admin/failed'>
type Item = AnswerOf<'platform', 'GET /admin/failed/:seq'>

export function phraseItems(items: FailedList['items']): string {
  const columns = ['SEQ', 'FAILED AT', 'LANE', 'USER', 'ACTIVITY', 'ACTION', 'REASON', 'STATE', 'ERROR']
  return textTable(
    columns.map((title) => ({ title, most: title === 'ERROR' ? 60 : 30 })),
    items.map(({ seq, at, lane, user, activity, action, reason, state, error }) => [
      String(seq),
      isoTime(at),
      lane,
      user ?? '–',
      activity ?? '–',
      action ?? '–',
      reason,
      state,
      error,
    ]),
  )
}

export function phraseItem(item: Item): string {
  const { seq, lane, id, user, activity, action, state, replays, decided_by: by, decided_at: at, text } = item
  const decision = by === null || at === null ? '' : ` (decided by ${by} at ${isoTime(at)})`
  const facts: (readonly [string, string])[] = [
    ['Message', `${seq} in lane ${lane}`],
    ['State', `${state}${decision}${replays > 0 ? `; replayed ${times(replays)}` : ''}`],
    ['activity.id', id ?? '–'],
    ['User', user ?? '–'],
    ['Activity', `${activity ?? '–'}, action ${action ?? '–'}`],
    ...identifierFacts(item.identifiers),
  ]
  return [
    ...factLines(facts),
    '',
    'Attempts without success, the oldest first:',
    ...item.history.flatMap(phraseAttempt),
    '',
    'Request:',
    `  ${escapeControls(text)}`,
  ].join('\n')
}

/** The identifiers of a message, as lines of its facts. */
export const identifierFacts = (identifiers: Item['identifiers']): (readonly [string, string])[] =>
  identifiers.map(({ ref, replayed_at: until }) => [
    'Identifier',
    until === null ? ref : `${ref} (until the replay at ${isoTime(until)})`,
  ])

function phraseAttempt(attempt: Item['history'][number]): string[] {
  const { outcome, status, rule, reason, error, answer, call, replayed_by: by, replayed_at: replayedAt } = attempt
  const title = attempt.attempt === 0 ? 'without an attempt' : `attempt ${attempt.attempt}`
  const facts = [
    ['error', error],
    ['answer', answer],
    ['call', call],
  ].filter(([, value]) => value !== null)
  return [
    `  ${isoTime(attempt.at)}  ${title}: ${outcome}, ${escapeControls(`${reason}${status === null ? '' : `, HTTP status ${status}`} (${rule})`)}`,
    ...facts.map(([name, value]) => `      ${name}: ${escapeControls(value ?? '')}`),
    ...(replayedAt === null ? [] : [`  ${isoTime(replayedAt)}  replayed by ${escapeControls(by ?? 'this program')}`]),
  ]
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)
