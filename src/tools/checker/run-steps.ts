// Runs the steps of a plan, and judges the recorded requests.

import { clock } from '../../base/runtime/clock.ts'
import type { AnyCheck } from './check.ts'
import type { Exchange } from './exchange.ts'
import type { Facts } from './facts.ts'
import type { Step } from './plan.ts'
import type { Target } from './target.ts'
import { Failed, NotApplicable, NotJudged, Unreachable } from './verdict.ts'

export type Status = 'passed' | 'failed' | 'skipped' | 'not_applicable' | 'not_judged'

export interface Result {
  readonly check: AnyCheck
  readonly target: Target
  readonly status: Status
  /** The observation (failed), or the reason why there is no judgement. */
  readonly seen?: string
  /** How to prepare a skipped check. */
  readonly prepare?: string
  /** No message was delivered, so that the rule was never put to the test. */
  readonly noSuccess?: true
  /** The recorded requests, in order. */
  readonly exchanges: readonly Exchange[]
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

/** The part of a tool that the runner reads. */
interface Recorded {
  readonly facts: Facts
  readonly exchanges: readonly Exchange[]
  /** The exchanges of the whole run with the target, for checks with `ofRun`. */
  readonly exchangesOfRun?: readonly Exchange[]
  readonly messages: number
}

export interface Course {
  /** Steps with the same answer run one after another, others at the same time. Default: all one after another. */
  readonly queueOf?: (target: Target) => string
  /** Waits before the checks with `ofRun` are judged. */
  readonly settle?: () => Promise<void>
}

/** @param checks in the order of the report */
export async function runSteps<Tool extends Recorded>(
  steps: readonly Step<Tool>[],
  toolFor: (target: Target, most: number) => Tool,
  { onResult, signal }: RunProgress,
  checks: readonly AnyCheck[],
  { queueOf = () => '', settle = async () => {} }: Course = {},
): Promise<Outcome> {
  const results: Result[] = []
  const startedAt = clock.now()
  let messages = 0
  let requests = 0
  let stopped: string | undefined
  const atEnd: (() => void)[] = []
  const add = (result: Result): void => {
    results.push(result)
    onResult?.(result, results.length)
  }

  async function runStep({ scenario, target, checks, settled, messages: most }: Step<Tool>): Promise<void> {
    for (const { check, status, reason, prepare } of settled)
      add({ check, target, status, seen: reason, exchanges: [], ...(prepare !== undefined && { prepare }) })
    if (checks.length === 0) return
    if (signal?.aborted) stopped ??= 'the run was interrupted'
    const tool = toolFor(target, most)
    const judge = stopped === undefined ? await observe(() => scenario.run(tool)) : undefined
    if (judge?.unreachable) stopped = judge.unreachable
    const { exchanges } = tool
    for (const check of checks) {
      const result = (): Result => ({
        check,
        target,
        exchanges: (check.ofRun && tool.exchangesOfRun) || exchanges,
        ...(judge ? judge.apply(check, target, tool.facts) : notJudged(stopped ?? '')),
      })
      const first = result()
      if (check.ofRun && judge && first.status !== 'failed') atEnd.push(() => add(result()))
      else add(first)
    }
    messages += tool.messages
    requests += exchanges.length
  }

  async function runQueue(queue: readonly Step<Tool>[]): Promise<void> {
    for (const step of queue) await runStep(step)
  }

  const [last, others] = [steps.filter(({ scenario }) => scenario.last), steps.filter(({ scenario }) => !scenario.last)]
  await Promise.all([...Map.groupBy(others, ({ target }) => queueOf(target)).values()].map(runQueue))
  await runQueue(last)
  if (atEnd.length > 0) await settle()
  for (const judgeAgain of atEnd) judgeAgain()
  const places = new Map(steps.map(({ target }, place) => [target, place]))
  const order = new Map(checks.map((check, place) => [check, place]))
  const byCheck = (a: Result, b: Result): number => (order.get(a.check) ?? 0) - (order.get(b.check) ?? 0)
  const byTarget = (a: Result, b: Result): number => (places.get(a.target) ?? 0) - (places.get(b.target) ?? 0)
  return {
    results: results.toSorted((a, b) => byCheck(a, b) || byTarget(a, b)),
    startedAt,
    endedAt: clock.now(),
    messages,
    requests,
    ...(stopped !== undefined && { stopped }),
  }
}

type Judged = Pick<Result, 'status' | 'seen' | 'noSuccess'>

interface Observed {
  apply(check: AnyCheck, target: Target, facts: Facts): Judged
  readonly unreachable?: string
}

const notJudged = (seen: string): Judged => ({ status: 'not_judged', seen })

/** Runs a scenario. An error of the checker is no finding about the subject. */
async function observe(run: () => Promise<unknown>): Promise<Observed> {
  try {
    const seen = await run()
    return { apply: (check, target, facts) => judge(check, seen, target, facts) }
  } catch (error) {
    const { message } = error as Error
    if (error instanceof Unreachable)
      return {
        apply: () => (error.isCrash ? { status: 'failed', seen: message } : notJudged(message)),
        unreachable: message,
      }
    return { apply: () => notJudged(`the checker could not do its part: ${message}`) }
  }
}

function judge(check: AnyCheck, seen: unknown, target: Target, facts: Facts): Judged {
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
