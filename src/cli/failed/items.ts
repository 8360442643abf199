// Formats single failed items: a list, and one item with its attempts.

import { escapeControls } from '../../runtime/log-text.ts'
import type { AnswerOf } from '../calls.ts'
import { textTable } from './text-table.ts'

export type FailedList = AnswerOf<'platform', 'GET /admin/failed'>
type Item = AnswerOf<'platform', 'GET /admin/failed/:seq'>

export function phraseItems(items: FailedList['items']): string {
  const columns = ['SEQ', 'FAILED AT', 'LANE', 'USER', 'ACTIVITY', 'ACTION', 'REASON', 'STATE', 'ERROR']
  return textTable(
    columns.map((title) => ({ title, most: title === 'ERROR' ? 60 : 30 })),
    items.map(({ seq, at, lane, user, activity, action, reason, state, error }) => [
      String(seq),
      timeOf(at),
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
  const decision = by === null || at === null ? '' : ` (decided by ${by} at ${timeOf(at)})`
  const facts = [
    ['Message', `${seq} in lane ${lane}`],
    ['State', `${state}${decision}${replays > 0 ? `; replayed ${times(replays)}` : ''}`],
    ['activity.id', id ?? '–'],
    ['User', user ?? '–'],
    ['Activity', `${activity ?? '–'}, action ${action ?? '–'}`],
    ...item.identifiers.map(({ ref, replayed_at: until }) => [
      'Identifier',
      until === null ? ref : `${ref} (until the replay at ${timeOf(until)})`,
    ]),
  ]
  const width = Math.max(...facts.map(([name = '']) => name.length))
  return [
    ...facts.map(([name = '', value = '']) => `${name.padEnd(width)}  ${escapeControls(value)}`),
    '',
    'Attempts without success, the oldest first:',
    ...item.history.flatMap(phraseAttempt),
    '',
    'Request:',
    `  ${escapeControls(text)}`,
  ].join('\n')
}

function phraseAttempt(attempt: Item['history'][number]): string[] {
  const { outcome, status, rule, reason, error, answer, call, replayed_by: by, replayed_at: replayedAt } = attempt
  const title = attempt.attempt === 0 ? 'without an attempt' : `attempt ${attempt.attempt}`
  const facts = [
    ['error', error],
    ['answer', answer],
    ['call', call],
  ].filter(([, value]) => value !== null)
  return [
    `  ${timeOf(attempt.at)}  ${title}: ${outcome}, ${escapeControls(`${reason}${status === null ? '' : `, HTTP status ${status}`} (${rule})`)}`,
    ...facts.map(([name, value]) => `      ${name}: ${escapeControls(value ?? '')}`),
    ...(replayedAt === null ? [] : [`  ${timeOf(replayedAt)}  replayed by ${escapeControls(by ?? 'this program')}`]),
  ]
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

const timeOf = (ms: number): string => new Date(ms).toISOString()
