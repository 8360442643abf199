import { phraseDuration } from '../../base/runtime/phrase-duration.ts'
import type { Notice } from './alerts.ts'

/** The sender of the notices: 'operator on gateway-1'. */
export type Origin = string

/** One line. @example 'Bellwire platform on crm-1: lane 1/push is held' */
export function phraseSubject(origin: Origin, notices: readonly Notice[]): string {
  const [first] = notices
  const more = notices.length > 1 ? `, and ${notices.length - 1} more` : ''
  return `Bellwire ${origin}: ${first ? phraseState(first) : 'no trouble'}${more}`
}

/** One paragraph for each notice. Times are UTC. */
export const phraseNotices = (notices: readonly Notice[]): string => notices.map(phraseNotice).join('\n\n')

function phraseNotice(notice: Notice): string {
  const { says, remedy, since, endedAt } = notice
  const began = `Began at ${timeOf(since)}.`
  if (endedAt !== undefined)
    return `${phraseState(notice)}\n${began} Ended at ${timeOf(endedAt)}, after ${phraseDuration(endedAt - since)}.`
  return `${phraseState(notice)}\n${began} ${says}\n${remedy}`
}

const phraseState = ({ name, endedAt }: Notice): string => (endedAt === undefined ? name : `ended: ${name}`)

const timeOf = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
