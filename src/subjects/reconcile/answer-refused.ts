// The reasons to refuse an answer of §2.5. A refused answer changes nothing: the last good answer remains valid.

/** The meaning of each reason and what to do. A person sees this text after the detail. */
export const remedies = {
  unreachable:
    'the operator could not be reached: check platform.reconciliation[].url, and whether the operator is running',
  status:
    'the operator did not answer 200: see its log for the cause. After 401 or 403, correct platform.reconciliation[].api_key',
  error: 'the operator reported an error: see its log, then run it again when the error is fixed',
  cut_short: 'the answer is incomplete: the operator or a proxy closed the connection; run it again',
  not_json: 'the answer is not JSON: check that platform.reconciliation[].url is the operator’s API and not a web page',
  wrong_content:
    'the answer is JSON, but not of the form {"users": ["1001"], "timestamp": "2020-01-01T10:00:00Z"}: correct the operator',
  timestamp:
    'the list cannot be compared without the time of its data: the operator must send it in UTC, such as 2020-01-01T10:00:00Z, by a clock that is right',
  repeated: 'a list that contains an id twice is wrong: the operator must send each user once',
  too_long: 'if ids of this length are correct, raise platform.reconciliation[].limits.id',
  shrunk: 'the list shrank implausibly: if it is correct, run it again with any size (--any-size)',
  grown: 'the list grew implausibly: if it is correct, run it again with any size (--any-size)',
  silent: 'the operator sent no data for too long: check its query, or raise platform.reconciliation[].limits.idle',
  slow: 'the answer took too long: if the operator needs this time, raise platform.reconciliation[].limits.total',
  interrupted: 'the platform stopped during the run, and nothing was compared: run it again',
  store: 'the platform’s store failed: see the platform’s log, then run it again',
} as const satisfies Readonly<Record<string, string>>

export type RefusalReason = keyof typeof remedies

/** Thrown to end a run without a result. */
export class AnswerRefused extends Error {
  readonly why: RefusalReason
  constructor(why: RefusalReason, detail: string) {
    super(detail)
    this.why = why
  }
}
