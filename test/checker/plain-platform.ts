// A small correct platform in plain Node. It imports nothing of src, so that the checker is tested against another reading of the
// interface. Mutants change one part of it: see platform-mutants.ts.

import { setTimeout as sleep } from 'node:timers/promises'
import { correctEndpoints, type EndpointRules } from './plain-endpoints.ts'
import { type Channel, parseExact, type Value, write } from './plain-operator.ts'

export const platformKey = 'key-that-the-checker-expects'

export type Mode = 'single' | 'batch'
export type Outcome = 'successful' | 'failed' | 'retry'

export interface Waiting {
  readonly id: string
  /** The record as it was enqueued. */
  readonly text: string
  attempts: number
  due: number
}

export interface Answer {
  /** undefined: there is no complete answer. */
  readonly status?: number
  readonly text: string
  readonly headers: Headers
  /** The status of an answer that was cut. */
  readonly incomplete?: number
}

/** The parts that a mutant may replace. */
export interface Rules {
  max: number
  spanMs: number
  timeoutMs: number
  path(channel: Channel, mode: Mode): string
  method: string
  /** @param attempts how often the first message was sent, with this request */
  headers(attempts: number): Record<string, string>
  /** The text that is sent of a record. */
  element(waiting: Waiting): string
  body(elements: readonly string[], mode: Mode): string
  /** Cuts the next request from the messages that are due. */
  cut(due: readonly Waiting[], waitedMs: number, mode: Mode): readonly Waiting[]
  outcomes(answer: Answer, sent: readonly Waiting[], mode: Mode): readonly Outcome[]
  pauseMs(attempts: number, answer: Answer): number
  listsFailed(outcome: Outcome): boolean
  /** Other ids of an answer that enter Failed Actions. */
  listsOthers(answer: Answer, sent: readonly Waiting[]): readonly string[]
  listRequest(field: string): { method: string; headers: Record<string, string>; body?: string; signal: AbortSignal }
  usesList(text: string, isComplete: boolean): boolean
  /** Whether a record enters the queue. */
  accepts(waiting: Waiting, number: number): boolean
  /** How many times a request is sent at once. */
  copies: number
  /** A second request is sent if the first one has no answer after this time. */
  hedgeMs?: number
  /** Whether a message that was settled stays in the queue. */
  keeps(outcome: Outcome, sent: readonly Waiting[]): boolean
  redirect: 'manual' | 'follow'
  sendsEmpty(mode: Mode): boolean
  endpoints: EndpointRules
  /** The queue after a restart. */
  restored(waiting: readonly Waiting[], settled: readonly Waiting[]): readonly Waiting[]
}

export interface PlainPlatform {
  readonly rules: Rules
  enqueue(channel: Channel, records: readonly string[]): void
  readonly failedActions: readonly string[]
  /** Whether an answer contained the identifier. */
  knows(ref: string): boolean
  /** Requests the list of a field. @returns whether it is used */
  reconcile(field: string): Promise<boolean>
  restart(): Promise<void>
  stop(): Promise<void>
}

export type PlatformMutation = (correct: Rules) => Partial<Rules>

const idText = (id: Value): string => (typeof id === 'object' && id !== null ? id.rawJSON : String(id))

export const correctRules: Rules = {
  max: 10,
  spanMs: 30,
  timeoutMs: 1_500,
  path: (channel, mode) => `/channels/${channel}/${mode}`,
  method: 'POST',
  headers: () => ({ 'content-type': 'application/json', 'x-api-key': platformKey }),
  element: ({ text }) => text,
  body: (elements, mode) => (mode === 'single' ? (elements[0] as string) : `[${elements.join()}]`),
  cut(due, waitedMs, mode) {
    if (mode === 'single') return due.slice(0, 1)
    return due.length >= this.max || waitedMs >= this.spanMs ? due.slice(0, this.max) : []
  },
  outcomes({ status, text }, sent, mode) {
    if (mode === 'single') {
      if (status === undefined) return ['retry']
      if (status >= 200 && status < 300) return ['successful']
      return [status >= 400 && status < 500 ? 'failed' : 'retry']
    }
    const answer = status === 200 ? parse(text) : undefined
    const ids = (name: string): Set<string> =>
      new Set((Array.isArray(answer?.[name]) ? answer[name] : []).map((item: Value) => idText(item?.id)))
    const [successful, failed] = [ids('successful'), ids('failed')]
    return sent.map(({ id }) => (successful.has(id) ? 'successful' : failed.has(id) ? 'failed' : 'retry'))
  },
  pauseMs(attempts, { headers }) {
    const retryAfterMs = Number(headers.get('retry-after') ?? 0) * 1_000
    return Math.max(retryAfterMs, Math.min(300, 20 * 2 ** (attempts - 1)))
  },
  listsFailed: (outcome) => outcome === 'failed',
  listsOthers: () => [],
  listRequest: (field) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': platformKey },
    body: write({ field }),
    signal: AbortSignal.timeout(10_000),
  }),
  usesList: (text, isComplete) => isComplete && !('error' in (parse(text) ?? { error: '' })),
  accepts: () => true,
  copies: 1,
  keeps: (outcome) => outcome === 'retry',
  redirect: 'manual',
  sendsEmpty: () => false,
  endpoints: correctEndpoints,
  restored: (waiting) => waiting,
}

function parse(text: string): Value {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

export interface PlainPlatformOptions {
  readonly url: string
  readonly modes: Readonly<Record<Channel, Mode>>
  readonly mutate?: PlatformMutation | undefined
}

export function startPlainPlatform({ url, modes, mutate }: PlainPlatformOptions): PlainPlatform {
  const rules: Rules = { ...correctRules }
  Object.assign(rules, mutate?.(correctRules))
  const lanes = { push: [] as Waiting[], site: [] as Waiting[] }
  const failedActions: string[] = []
  const refs = new Set<string>()
  let number = 0
  const settledIn = { push: [] as Waiting[], site: [] as Waiting[] }
  let running = true

  async function call(channel: Channel, sent: readonly Waiting[]): Promise<Answer> {
    const mode = modes[channel]
    const elements = sent.map((waiting) => rules.element(waiting))
    try {
      const response = await fetch(url + rules.path(channel, mode), {
        method: rules.method,
        headers: rules.headers(sent[0]?.attempts ?? 0),
        body: rules.body(elements, mode),
        redirect: rules.redirect,
        signal: AbortSignal.timeout(rules.timeoutMs),
      })
      const { status, headers } = response
      const text = await response.text().catch(() => undefined)
      return text === undefined ? { text: '', headers, incomplete: status } : { status, headers, text }
    } catch {
      return { text: '', headers: new Headers() }
    }
  }

  async function serve(channel: Channel): Promise<void> {
    const mode = modes[channel]
    let waiting = lanes[channel]
    let since: number | undefined
    for (; running; await sleep(10)) {
      waiting = lanes[channel]
      const now = performance.now()
      const due = waiting.filter((each) => each.due <= now)
      since = due.length === 0 ? undefined : (since ?? now)
      const sent = rules.cut(due, since === undefined ? 0 : now - since, mode)
      if (sent.length === 0 && !rules.sendsEmpty(mode)) continue
      since = undefined
      for (const each of sent) each.attempts++
      const copies = Array.from({ length: rules.copies }, () => call(channel, sent))
      const { hedgeMs } = rules
      if (hedgeMs !== undefined) {
        const late = await Promise.race([copies[0], sleep(hedgeMs, 'late')])
        if (late === 'late') copies.unshift(call(channel, sent))
      }
      const [answer] = (await Promise.all(copies)) as [Answer]
      for (const [, ref = ''] of answer.text.matchAll(/"(?:push_id|site_notification_id)":"([^"]+)"/g)) refs.add(ref)
      const outcomes = rules.outcomes(answer, sent, mode)
      failedActions.push(...rules.listsOthers(answer, sent))
      const settled = new Set<Waiting>()
      for (const [place, each] of sent.entries()) {
        const outcome = outcomes[place] ?? 'retry'
        if (rules.listsFailed(outcome)) failedActions.push(each.id)
        if (rules.keeps(outcome, sent)) each.due = performance.now() + rules.pauseMs(each.attempts, answer)
        else settled.add(each)
      }
      lanes[channel] = lanes[channel].filter((each) => !settled.has(each))
      settledIn[channel].push(...settled)
    }
  }

  const start = (): Promise<unknown> => Promise.all([serve('push'), serve('site')])
  let loops = start()
  async function stop(): Promise<void> {
    running = false
    await loops
  }
  return {
    rules,
    failedActions,
    knows: (ref) => refs.has(ref),
    enqueue(channel, records) {
      for (const text of records) {
        const waiting = { id: idText(parse(text)?.activity.id), text, attempts: 0, due: 0 }
        if (rules.accepts(waiting, ++number)) lanes[channel].push(waiting)
      }
    },
    async reconcile(field) {
      let text = ''
      try {
        const response = await fetch(`${url}/reconciliation`, rules.listRequest(field))
        for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
        return rules.usesList(text, true)
      } catch {
        return rules.usesList(text, false)
      }
    },
    async restart() {
      await stop()
      for (const channel of ['push', 'site'] as const)
        lanes[channel] = [...rules.restored(lanes[channel], settledIn[channel])]
      running = true
      loops = start()
    },
    stop,
  }
}

export { write }
