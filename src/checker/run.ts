// Runs the checks: sends the requests of each step, and judges what was recorded.

import { clock } from '../runtime/clock.ts'
import type { Check, RuleSet } from './check.ts'
import type { Exchange } from './exchange.ts'
import type { Facts } from './facts.ts'
import { createHttpClient, type HttpClient, pause } from './http-client.ts'
import { createMessageMaker } from './messages.ts'
import { planSteps, type Step } from './plan.ts'
import { CouldNotRun, type Preflight, preflight, reachRemedy } from './preflight.ts'
import { createSender, type Sender, Unreachable } from './sender.ts'
import type { Feature, Target } from './target.ts'
import { Failed, NotApplicable, NotJudged } from './verdict.ts'

export type Status = 'passed' | 'failed' | 'skipped' | 'not_applicable' | 'not_judged'

export interface Result {
  readonly check: Check
  readonly target: Target
  readonly status: Status
  /** What was seen (failed), or why there is no judgement. */
  readonly seen?: string
  /** How to prepare a skipped check. */
  readonly prepare?: string
  /** No message was delivered, so that the rule was never put to the test. */
  readonly noSuccess?: true
  /** The recorded requests, in order. */
  readonly exchanges: readonly Exchange[]
}

export interface RunOptions {
  readonly url: string
  readonly key: string
  readonly checks: readonly Check[]
  readonly facts: Facts
  readonly rules: RuleSet
  readonly only?: readonly string[]
  /** The endpoints that must be offered; undefined: those that are. */
  readonly features?: readonly Feature[]
  readonly mostMessages: number
  readonly firstId?: bigint
}

export interface Prepared extends Preflight {
  /** The most messages of the run. */
  readonly messages: number
  /** The number of results. */
  readonly total: number
  readonly mark: string
  run(progress?: RunProgress): Promise<Outcome>
  /** Closes the connections of a run that is not started. */
  close(): void
}

export interface RunProgress {
  /** Called with each result. */
  readonly onResult?: (result: Result, done: number) => void
  /** Ends the run after the current step. The other checks are not judged. */
  readonly signal?: AbortSignal
}

export interface Outcome {
  readonly results: readonly Result[]
  readonly startedAt: number
  readonly endedAt: number
  readonly messages: number
  readonly requests: number
  /** The reason why the run ended early. */
  readonly stopped?: string
}

/**
 * Finds out what the operator offers, and plans the run. Sends no message yet.
 *
 * @throws CouldNotRun
 * @example
 * const prepared = await prepareRun(options)
 * console.log(`sends at most ${prepared.messages} messages`)
 * const { results } = await prepared.run()
 */
export async function prepareRun(options: RunOptions): Promise<Prepared> {
  const { url, key, facts, checks, mostMessages, firstId } = options
  const client = createHttpClient({ url, key, timeoutMs: facts.pace.timeout })
  const make = createMessageMaker(facts, firstId)
  const blame = (lost: Exchange): Promise<Exchange> => findBlame(client, facts, lost)
  const senderFor = (target: Target, most = 0): Sender =>
    createSender({ facts, target, make, client, mostMessages: most, blame })
  try {
    const found = await preflight(senderFor, options.features).catch((error: unknown) => {
      throw error instanceof Unreachable ? new CouldNotRun(error.message, reachRemedy) : error
    })
    const steps = planSteps({ ...options, endpoints: found.endpoints })
    const messages = steps.reduce((sum, step) => sum + step.messages, 0)
    if (messages > mostMessages)
      throw new CouldNotRun(
        `the run would send up to ${messages} messages, and --max-messages is ${mostMessages}`,
        'lower --batch-max, run a part with --only, or raise --max-messages',
      )
    const order = new Map(checks.map((check, place) => [check, place]))
    return {
      ...found,
      messages,
      total: steps.reduce((sum, step) => sum + step.checks.length + step.settled.length, 0),
      mark: make.mark,
      run: (progress = {}) => runSteps(steps, senderFor, progress, order).finally(() => client.close()),
      close: () => client.close(),
    }
  } catch (error) {
    client.close()
    throw error
  }
}

async function runSteps(
  steps: readonly Step[],
  senderFor: (target: Target, most: number) => Sender,
  { onResult, signal }: RunProgress,
  order: ReadonlyMap<Check, number>,
): Promise<Outcome> {
  const results: Result[] = []
  const startedAt = clock.now()
  let messages = 0
  let requests = 0
  let stopped: string | undefined
  const add = (result: Result): void => {
    results.push(result)
    onResult?.(result, results.length)
  }
  for (const { scenario, target, checks, settled, messages: most } of steps) {
    for (const { check, status, reason, prepare } of settled)
      add({ check, target, status, seen: reason, exchanges: [], ...(prepare !== undefined && { prepare }) })
    if (checks.length === 0) continue
    if (signal?.aborted) stopped ??= 'the run was interrupted'
    const sender = senderFor(target, most)
    const judge = stopped === undefined ? await observe(() => scenario.run(sender)) : undefined
    if (judge?.unreachable) stopped = judge.unreachable
    const { exchanges } = sender
    for (const check of checks) {
      const verdict = judge ? judge.apply(check, target, sender.facts) : notJudged(stopped ?? '')
      add({ check, target, exchanges, ...verdict })
    }
    messages += sender.messages
    requests += exchanges.length
  }
  return {
    results: results.toSorted((a, b) => (order.get(a.check) ?? 0) - (order.get(b.check) ?? 0)),
    startedAt,
    endedAt: clock.now(),
    messages,
    requests,
    ...(stopped !== undefined && { stopped }),
  }
}

type Judged = Pick<Result, 'status' | 'seen' | 'noSuccess'>

interface Observed {
  apply(check: Check, target: Target, facts: Facts): Judged
  readonly unreachable?: string
}

const notJudged = (seen: string): Judged => ({ status: 'not_judged', seen })

/** Runs a scenario. An error of the checker is no finding about the operator. */
async function observe(run: () => Promise<unknown>): Promise<Observed> {
  try {
    const seen = await run()
    return { apply: (check, target, facts) => judge(check, seen, target, facts) }
  } catch (error) {
    const { message } = error as Error
    if (error instanceof Unreachable) return { apply: () => notJudged(message), unreachable: message }
    return { apply: () => notJudged(`the checker could not do its part: ${message}`) }
  }
}

function judge(check: Check, seen: unknown, target: Target, facts: Facts): Judged {
  try {
    check.judge(seen, { target, facts })
    return { status: 'passed' }
  } catch (error) {
    const { message } = error as Error
    if (error instanceof Failed) return { status: 'failed', seen: message }
    if (error instanceof NotApplicable) return { status: 'not_applicable', seen: message }
    if (error instanceof NotJudged) return { ...notJudged(message), ...(error.noSuccess && { noSuccess: true }) }
    return notJudged(`the checker has a fault: ${message}`)
  }
}

/** Statuses of a proxy whose server does not answer. */
const isProxyError = (status: number | undefined): boolean => status === 502 || status === 504

/**
 * Decides by another request whether a lost answer is the operator's fault. If the operator cannot be reached, waits for it.
 *
 * @throws Unreachable if it does not come back
 */
async function findBlame(client: HttpClient, { pace }: Facts, exchange: Exchange): Promise<Exchange> {
  const { lost } = exchange
  if (!lost) return exchange
  const deadline = clock.monotonic() + pace.patience
  for (let attempt = 1; ; attempt++) {
    const control = await client.send({ label: 'a control request', path: '/bellwire-check', key: 'none', body: '{}' })
    if (control.answer && !isProxyError(control.answer.status)) {
      const blame = attempt === 1 && lost.how !== 'unreachable' && lost.how !== 'too_long' ? 'operator' : 'connection'
      return { ...exchange, lost: { ...lost, blame } }
    }
    if (clock.monotonic() > deadline)
      throw new Unreachable(`the operator cannot be reached since "${exchange.label}": ${lost.detail}`)
    await pause(pace.retryPause)
  }
}
