import { AnswerRefused } from './answer-refused.ts'

/** The tolerance for an operator's clock that is ahead. */
const mostAheadMs = 60_000
/** Older data would leave every user who changed since then unjudged, and the comparison would look clean. */
const mostAgeMs = 7 * 24 * 3_600_000

/**
 * Checks the time of a list by our own clock: a wrong one, such as a local time that is written with Z, would judge users who
 * have changed since.
 *
 * @param dataAt the timestamp of the list, in epoch milliseconds
 * @param now the end of the answer, in epoch milliseconds
 * @throws AnswerRefused
 */
export function checkDataTime(dataAt: number, now: number): void {
  const written = new Date(dataAt).toISOString()
  if (dataAt > now + mostAheadMs)
    throw new AnswerRefused(
      'timestamp',
      `its timestamp ${written} is in the future: it is ${new Date(now).toISOString()} here`,
    )
  if (dataAt < now - mostAgeMs) throw new AnswerRefused('timestamp', `its timestamp ${written} is more than 7 days old`)
}
