// Sends the requests of a scenario, and counts its messages. A scenario cannot send more messages than it announced.

import { sleep } from '../../base/runtime/sleep.ts'
import { sendPaths } from '../../contract/endpoints.ts'
import type { Exchange } from './exchange.ts'
import type { Facts } from './facts.ts'
import type { HttpClient, WireRequest } from './http-client.ts'
import type { Message, MessageMaker } from './messages.ts'
import { pathOf, type Target } from './target.ts'
import { afterLeaving, Unreachable } from './verdict.ts'

type Special = Partial<Omit<WireRequest, 'path' | 'body' | 'label'>> & {
  /** A lost answer is expected, and is nobody's fault. */
  readonly mayBeLost?: true
}

export interface Sender {
  readonly facts: Facts
  readonly target: Target
  readonly make: MessageMaker
  /** Sends a message to the single endpoint of the target's channel. */
  single(label: string, message: Message, special?: Special): Promise<Exchange>
  /** Sends messages to the batch endpoint of the target's channel. */
  batch(label: string, messages: readonly Message[], special?: Special): Promise<Exchange>
  /** Sends a new message to the endpoint of the target: alone, or as a batch of one. */
  one(label: string, special?: Special): Promise<Exchange>
  /** Sends a body with at most `messages` messages to the endpoint of the target. */
  send(label: string, body: string, special?: Special & { readonly messages?: number }): Promise<Exchange>
  /** Requests the list of a field (§2.5). */
  list(label: string, field: string, special?: Special): Promise<Exchange>
  /** Any other request, with at most `messages` messages; default: none. */
  request(wire: WireRequest & Special & { readonly messages?: number }): Promise<Exchange>
  /** Sends a message, and repeats it after a fatal outcome or a lost answer, until it has another outcome or patience ends. */
  singleUntilFinal(label: string, message: Message): Promise<Exchange>
  batchUntilFinal(label: string, messages: readonly Message[]): Promise<Exchange>
  pause(ms: number): Promise<void>
  /** The exchanges so far, in the order of their beginning. */
  readonly exchanges: readonly Exchange[]
  /** The number of messages so far. Repetitions count too. */
  readonly messages: number
}

export interface SenderOptions {
  readonly facts: Facts
  readonly target: Target
  readonly make: MessageMaker
  readonly client: HttpClient
  /** The most messages that this scenario may send. */
  readonly mostMessages: number
  /** Finds out whether a lost answer is the operator's fault. @throws Unreachable */
  readonly blame: (lost: Exchange) => Promise<Exchange>
}

export function createSender({ facts, target, make, client, mostMessages, blame }: SenderOptions): Sender {
  const slots: (Exchange | undefined)[] = []
  let messages = 0
  /** Whether the checker closed the connection of the last request on purpose. */
  let hasLeft = false

  /** An operator that is away right after the checker has left is a finding. @throws Unreachable */
  async function findCause(exchange: Exchange): Promise<Exchange> {
    const isSuspect = hasLeft && (exchange.lost?.how === 'unreachable' || exchange.lost?.how === 'cut')
    const blamed = await blame(exchange).catch((error: unknown) => {
      throw isSuspect && error instanceof Unreachable
        ? new Unreachable(`${exchange.label}: ${exchange.lost?.detail}, ${afterLeaving}`, true)
        : error
    })
    if (!isSuspect || blamed.lost?.blame !== 'connection') return blamed
    return { ...blamed, lost: { ...blamed.lost, blame: 'crash' } }
  }

  const request: Sender['request'] = async ({ messages: count = 0, mayBeLost, ...wire }) => {
    messages += count
    if (messages > mostMessages)
      throw new Error(`the scenario announced ${mostMessages} messages, and tried to send ${messages}`)
    const slot = slots.push(undefined) - 1
    const exchange = await client.send(wire)
    const judged = exchange.lost && !mayBeLost ? await findCause(exchange) : exchange
    if (judged.abandoned) hasLeft = true
    else if (judged.answer) hasLeft = false
    slots[slot] = judged
    return judged
  }

  const single: Sender['single'] = (label, { text }, special) =>
    request({ label, path: sendPaths[target.channel].single, body: text, messages: 1, ...special })
  const batch: Sender['batch'] = (label, list, special) =>
    request({
      label,
      path: sendPaths[target.channel].batch,
      body: `[${list.map(({ text }) => text).join()}]`,
      messages: list.length,
      ...special,
    })

  async function untilFinal(attempt: () => Promise<Exchange>, isFinal: (exchange: Exchange) => boolean) {
    const attempts = attemptsIn(facts)
    for (let n = 1; ; n++) {
      const exchange = await attempt()
      if (isFinal(exchange) || n === attempts) return exchange
      await sleep(facts.pace.retryPause)
    }
  }

  return {
    facts,
    target,
    make,
    single,
    batch,
    one(label, special) {
      const message = make.message()
      return target.mode === 'single' ? single(label, message, special) : batch(label, [message], special)
    },
    send: (label, body, special) => request({ label, path: pathOf(target.feature), body, ...special }),
    list: (label, field, special) =>
      request({ label, path: pathOf('reconciliation'), body: JSON.stringify({ field }), ...special }),
    request,
    singleUntilFinal: (label, message) => untilFinal(() => single(label, message), isFinalSingle),
    batchUntilFinal: (label, list) => untilFinal(() => batch(label, list), isFinalBatch),
    pause: sleep,
    get exchanges() {
      return slots.filter((exchange) => exchange !== undefined)
    },
    get messages() {
      return messages
    },
  }
}

/** The most attempts of singleUntilFinal and batchUntilFinal. */
export const attemptsIn = ({ pace }: Facts): number => Math.max(2, Math.floor(pace.patience / pace.retryPause))

const isFinalSingle = ({ answer, lost }: Exchange): boolean =>
  lost?.blame === 'crash' || (answer !== undefined && answer.status < 500)

const isFinalBatch = ({ answer, lost }: Exchange): boolean =>
  lost?.blame === 'crash' ||
  (answer !== undefined && answer.status < 300 && !/"fatal"\s*:\s*\[\s*[^\s\]]/.test(answer.body))
