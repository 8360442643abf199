// A run of the checks of an operator: sends the requests of each step, and judges the recorded answers.

import { clock } from '../../base/runtime/clock.ts'
import { sleep } from '../../base/runtime/sleep.ts'
import type { Exchange } from './exchange.ts'
import type { Facts } from './facts.ts'
import { createHttpClient, type HttpClient } from './http-client.ts'
import { createMessageMaker } from './messages.ts'
import { acceptedCheck, offeredCheck } from './operator/endpoints.ts'
import { type Chosen, type Planned, planRun } from './plan.ts'
import { CouldNotRun, type Preflight, preflight, reachRemedy } from './preflight.ts'
import { type Outcome, type RunProgress, runSteps } from './run-steps.ts'
import { createSender, type Sender } from './sender.ts'
import type { Feature, Target } from './target.ts'
import { Unreachable } from './verdict.ts'

export interface RunOptions extends Chosen<Sender> {
  readonly url: string
  readonly key: string
  /** The endpoints that must be offered; undefined: those that are. */
  readonly features?: readonly Feature[]
  readonly mostMessages: number
  readonly firstId?: bigint
}

export interface Prepared extends Preflight, Planned {
  readonly mark: string
  run(progress?: RunProgress): Promise<Outcome>
  /** Closes the connections of a run that is not started. */
  close(): void
}

const gates = { offered: offeredCheck, accepted: acceptedCheck }

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
    const { steps, messages, total } = planRun({ ...options, endpoints: found.endpoints, gates })
    if (messages > mostMessages)
      throw new CouldNotRun(
        `the run would send up to ${messages} messages, and --max-messages is ${mostMessages}`,
        'lower --batch-max, run a part with --only, or raise --max-messages',
      )
    return {
      ...found,
      messages,
      total,
      mark: make.mark,
      run: (progress = {}) => runSteps(steps, senderFor, progress, checks).finally(() => client.close()),
      close: () => client.close(),
    }
  } catch (error) {
    client.close()
    throw error
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
    // Without a body: an operator may close the connection because of one.
    const control = await client.send({
      label: 'a control request',
      method: 'GET',
      path: '/bellwire-check',
      key: 'none',
    })
    if (control.answer && !isProxyError(control.answer.status)) {
      const blame = attempt === 1 && lost.how !== 'unreachable' && lost.how !== 'too_long' ? 'operator' : 'connection'
      return { ...exchange, lost: { ...lost, blame } }
    }
    if (clock.monotonic() > deadline)
      throw new Unreachable(`the operator cannot be reached since "${exchange.label}": ${lost.detail}`)
    await sleep(pace.retryPause)
  }
}
