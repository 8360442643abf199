// §7.1, §7.2: the pauses before repetitions, and redirects.

import { type Check, checkOf, checksOf, decision, should } from '../check.ts'
import { expect, Failed, NotJudged } from '../verdict.ts'
import { type Lane, redirected } from './lane.ts'
import { isFirst, oneRecord } from './one-record.ts'
import { status, successful } from './replies.ts'

/** A platform without pauses sends a hundred requests in this time, one with growing pauses a few. */
const troubleMs = 1_000
const mostRequests = 15
/** The checker answers with errors until the pauses have grown, or this many requests have arrived. */
const mostErrors = 7
/** Pauses are partly random, so each alone may be short: the longest of the later ones is compared with the first one. */
const growth = 1.5
const firstLater = 2

/** @param times when the requests arrived */
const pausesBetween = (times: readonly number[]): readonly number[] =>
  times.slice(1).map((at, place) => Math.round(at - (times[place] ?? at)))

const haveGrown = ([first = 0, ...others]: readonly number[]): boolean =>
  others.length >= firstLater && Math.max(...others.slice(firstLater - 1)) >= growth * first

const trouble = oneRecord((target) => {
  const times: number[] = []
  return (open) => {
    times.push(open.at)
    const isTrouble =
      open.at - (times[0] ?? 0) < troubleMs || (times.length <= mostErrors && !haveGrown(pausesBetween(times)))
    return isTrouble ? status(503, 'retry') : successful(target, open)
  }
})

const troubleChecks = checksOf(trouble, [
  {
    ...should('pause.errors', '§7.1, §7.2', 30),
    title: 'A platform pauses between its attempts while the operator answers only with errors.',
    consequence: 'An operator in trouble gets thousands of requests, and does not recover.',
    remedy: 'Wait before each repetition, longer each time and partly at random: from about 1 s to 5 min.',
    judge: ({ trace, record }) => {
      const requests = trace.of(record)
      const [first, last] = [requests[0], requests.at(-1)]
      const within = Math.round((last?.at ?? 0) - (first?.at ?? 0))
      expect(
        requests.length <= mostRequests,
        `${last?.label}: ${requests.length} requests with one message in ${within} ms`,
      )
    },
  },
  {
    ...should('pause.grows', '§7.1, §7.2', 30),
    title: 'The pauses grow while the operator goes on answering with errors.',
    consequence: 'While an operator is away for hours, each platform sends it as many requests as in the first second.',
    remedy: 'Double the pause after each attempt, up to a maximum such as 5 min, and choose a part of it at random.',
    judge: ({ trace, record }) => {
      const pauses = pausesBetween(trace.of(record).map(({ at }) => at)).slice(0, mostErrors)
      if (haveGrown(pauses)) return
      if (pauses.length < mostErrors)
        throw new NotJudged(`the message came ${pauses.length + 1} times, not ${mostErrors + 1}`)
      throw new Failed(`the pauses between ${mostErrors + 1} attempts: ${pauses.join(', ')} ms`)
    },
  },
])

const retryAfterSeconds = 2
/** Clocks and timers are not exact. */
const toleranceMs = 100

const retryAfter = { 'retry-after': String(retryAfterSeconds) }
const waiting = oneRecord(
  (target) => (open) => (isFirst(open) ? status(503, 'retry', undefined, retryAfter) : successful(target, open)),
)

const waitingCheck = checkOf(waiting, {
  ...decision('pause.retry-after', '§1.6, §8.1', 13),
  title: 'A message that is answered 503 with Retry-After in seconds is not sent again before that time.',
  consequence:
    'The operator asked for a pause, because of its rate limit or a restart, and gets requests that it must refuse.',
  remedy: 'Read Retry-After, in seconds or as a date, and wait at least that long.',
  judge: ({ trace, record }) => {
    const [first, second] = trace.of(record)
    if (!first || !second) throw new NotJudged('the message did not come again')
    const ms = Math.round(second.at - (first.endedAt ?? first.at))
    expect(
      ms >= retryAfterSeconds * 1_000 - toleranceMs,
      `${second.label}: ${ms} ms after an answer with Retry-After: ${retryAfterSeconds}`,
    )
  },
})

/** A client that follows the second one sends GET. */
const redirects = [307, 302]

const redirect = oneRecord((target) => (open) => {
  const code = redirects[(open.messages[0]?.attempt ?? redirects.length + 1) - 1]
  if (code === undefined) return successful(target, open)
  return status(code, 'retry', undefined, { location: open.url + redirected })
})

const redirectCheck = checkOf(redirect, {
  ...should('redirect.not-followed', '§7.1, §7.2', 8),
  title: 'A redirect is not followed: the message is sent again to the configured address.',
  consequence: 'The API key and the data of users go to an address that nobody agreed on.',
  remedy: 'Switch off redirects in the HTTP client, and treat a status from 300 to 399 as any other error.',
  judge: ({ trace, record }) => {
    const requests = trace.of(record)
    const followed = requests.find(({ url }) => url.endsWith(redirected))
    if (followed)
      throw new Failed(
        `${followed.label}: the redirect was followed${followed.key === 'none' ? '' : ', with the API key'}`,
      )
    if (requests.length < 2) throw new NotJudged('the message did not come again')
  },
})

export const timingChecks: readonly Check<Lane>[] = [...troubleChecks, waitingCheck, redirectCheck]
