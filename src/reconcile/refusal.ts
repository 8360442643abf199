// Why an answer of §2.5 is not compared with anything. A refused answer changes nothing: the last good one keeps counting.

/** What each means, and what to do: the words that a person sees after the particulars. */
export const refusals = {
  unreachable: 'the operator could not be reached: check platform.reconciliation[].url and that the operator runs',
  status:
    'the operator did not answer 200: its log says why; 401 or 403 mean that platform.reconciliation[].api_key is wrong',
  error: 'the operator reports an error of its own (§7.3): its log says more; ask again when it is mended',
  cut_short: 'the answer ended before its end: a proxy or the operator broke it off; ask again',
  not_json: 'the answer is not JSON: see whether url is the operator’s API and not a page or a proxy',
  wrong_content: 'the answer is JSON, but not what §2.5 says: {"users": [texts], "timestamp": a text}',
  timestamp:
    'without the time of the data nothing can be judged (§2.5): the operator must send it, as 2020-01-01T10:00:00Z',
  repeated: 'a list with ids twice is put together wrongly: the operator must send each user once',
  too_long: 'raise platform.reconciliation[].limits.id if such ids are meant',
  shrunk: 'a list that shrank so much is rarely true: if it is, run it again with any size (--any-size)',
  grown: 'a list that grew so much is rarely true: if it is, run it again with any size (--any-size)',
  silent: 'the operator sent nothing for too long: its query hangs, or raise platform.reconciliation[].limits.idle',
  slow: 'the whole took too long: raise platform.reconciliation[].limits.total if the operator needs that time',
  interrupted: 'the platform stopped during the run: nothing was compared; run it again',
  store: 'the platform’s own store could not do it: see its log, then run it again',
} as const satisfies Readonly<Record<string, string>>

export type Why = keyof typeof refusals

/** Ends a run without a result. */
export class Refused extends Error {
  readonly why: Why
  constructor(why: Why, particulars: string) {
    super(particulars)
    this.why = why
  }
}
