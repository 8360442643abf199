// The tool of a scenario: it has records enqueued, and answers the platform's requests for one endpoint.

import { clock } from '../../../base/runtime/clock.ts'
import { redactSecrets } from '../../../base/runtime/redact-secrets.ts'
import { sleep } from '../../../base/runtime/sleep.ts'
import type { Exchange } from '../exchange.ts'
import type { Facts } from '../facts.ts'
import { createHttpClient, type WireRequest } from '../http-client.ts'
import type { Message, MessageMaker } from '../messages.ts'
import type { Target } from '../target.ts'
import { NotJudged } from '../verdict.ts'
import type { Arrived } from './listener.ts'
import { notOurs, type Open, successful } from './replies.ts'
import {
  activityOf,
  bodyOf,
  exchangeOf,
  type Fields,
  type Given,
  idOf,
  type PlatformRequest,
  type ReceivedMessage,
  type Reply,
} from './request.ts'

/** A file of records, in the order in which they should be sent. */
export interface Enqueued {
  readonly channel: Target['channel']
  readonly name: string
  readonly records: readonly Message[]
}

export interface Play {
  readonly records: readonly Message[]
  /** Default: every message is successful. */
  readonly reply?: (open: Open) => Reply
  /** Default: every record has been answered with a final outcome. */
  readonly isDone?: (trace: Trace) => boolean
  /** Called when the records are enqueued. */
  readonly onEnqueued?: () => void
}

/** The requests with the records of one play, in the order of their arrival. */
export interface Trace {
  readonly records: readonly Message[]
  readonly requests: readonly PlatformRequest[]
  /** All requests of the run to the endpoint of the lane. */
  ofRun(): readonly PlatformRequest[]
  /** The requests with this record. */
  of(record: Message): readonly PlatformRequest[]
  /** The outcome of the record in the reply to each of these requests. */
  given(record: Message): readonly Given[]
  /** The records without a final outcome. */
  readonly open: ReadonlySet<Message>
}

export interface Lane {
  readonly facts: Facts
  readonly target: Target
  readonly make: MessageMaker
  play(play: Play): Promise<Trace>
  /** Makes the platform request the list of blocked users, and answers with this reply. */
  list(reply: Reply): Promise<{ readonly requests: readonly PlatformRequest[]; readonly accepted: boolean }>
  /** Calls an endpoint that the platform hosts. */
  call(request: WireRequest): Promise<Exchange>
  readonly exchanges: readonly Exchange[]
  /** The exchanges of the whole run with the endpoint. */
  readonly exchangesOfRun: readonly Exchange[]
  /** The number of enqueued records. */
  readonly messages: number
}

/** The lane that answers at present. All other requests are answered by `ofOthers`. */
export interface Player {
  /** undefined: none of the lane's records is in the request. */
  answer(arrived: Arrived): { readonly reply: Reply; readonly ended: (closed: boolean) => void } | undefined
  /** Records a request that another player answers, if it has records of the lane. */
  note(arrived: Arrived): void
}

export interface LaneOptions {
  readonly facts: Facts
  readonly target: Target
  readonly make: MessageMaker
  readonly url: string
  readonly key: string
  readonly mostMessages: number
  readonly enqueue: (file: Enqueued) => Promise<void>
  /** Makes the lane answer. */
  readonly take: (player: Player) => void
  /** All requests of the run that a lane answered. The lane adds its own. */
  readonly ofRun: PlatformRequest[]
}

const pollMs = 10

/** The end of the address to which the checker redirects. */
export const redirected = '?bellwire-check=redirected'

export function createLane(options: LaneOptions): Lane {
  const { facts, target, make, url, key, mostMessages, enqueue, take, ofRun } = options
  const requests: Mutable<PlatformRequest>[] = []
  const calls: Exchange[] = []
  const patience = facts.pace.patience + (facts.platformTimeout ?? 0)
  let messages = 0
  // A redirect that the platform follows is judged by a check of its own.
  const requestsOfRun = (): readonly PlatformRequest[] =>
    ofRun.filter(({ feature, url: to }) => feature === target.feature && !to.endsWith(redirected))

  function openOf(arrived: Arrived, found: readonly ReceivedMessage[], strangers: number): Open {
    return {
      label: `request ${ofRun.length + 1}`,
      feature: target.feature,
      method: arrived.method,
      url: url + arrived.target,
      headers: arrived.headers,
      key: arrived.key,
      keyHeader: arrived.keyHeader,
      body: redactSecrets(arrived.body, [key]),
      value: bodyOf(arrived).value,
      messages: found,
      strangers,
      at: clock.monotonic(),
      startedAt: clock.now(),
    }
  }

  function record(request: PlatformRequest): Mutable<PlatformRequest> {
    requests.push(request)
    ofRun.push(request)
    return request
  }

  async function call(request: WireRequest): Promise<Exchange> {
    const { url: platformUrl = '', linkKey = '' } = facts.platform ?? {}
    const client = createHttpClient({ url: platformUrl, key: linkKey, timeoutMs: facts.pace.timeout })
    try {
      const exchange = await client.send(request)
      calls.push(exchange)
      return exchange
    } finally {
      client.close()
    }
  }

  async function list(reply: Reply): ReturnType<Lane['list']> {
    const from = requests.length
    take({
      note() {},
      answer(arrived) {
        if (arrived.feature !== target.feature) return undefined
        return answerWith(record({ ...openOf(arrived, [], 0), reply }), () => {})
      },
    })
    const accepted = (await facts.reconcile?.(target.field)) === true
    return { requests: requests.slice(from), accepted }
  }

  async function play({
    records,
    reply = (open) => successful(target, open),
    isDone = isSettled,
    onEnqueued,
  }: Play): Promise<Trace> {
    messages += records.length
    if (messages > mostMessages)
      throw new Error(`the scenario announced ${mostMessages} records, and tried to enqueue ${messages}`)
    const trace = createTrace(records, requestsOfRun)
    take({
      note(arrived) {
        if (arrived.feature !== target.feature) return
        const { elements } = bodyOf(arrived)
        const found = trace.receive(elements)
        if (found.length === 0) return
        const open = openOf(arrived, found, elements.length - found.length)
        trace.add({ ...open, label: `request ${ofRun.length}`, reply: { given: () => 'retry' }, endedAt: open.at })
      },
      answer(arrived) {
        const { elements } = bodyOf(arrived)
        const found = trace.receive(elements)
        if (arrived.feature !== target.feature || (found.length === 0 && elements.length > 0)) return undefined
        const open = openOf(arrived, found, elements.length - found.length)
        const decided = found.length === 0 ? notOurs(target) : reply(open)
        const request = record({ ...open, reply: decided })
        trace.add(request)
        return answerWith(request, () => trace.settle(request))
      },
    })
    await enqueue({ channel: target.channel, name: `${target.feature}-${requests.length + 1}`, records })
    onEnqueued?.()
    await waitUntil(() => isDone(trace), trace)
    if (trace.requests.length === 0)
      throw new NotJudged(`no request with these records arrived within ${patience / 1000} s`)
    return trace
  }

  /** Waits for the end, as long as requests go on arriving. */
  async function waitUntil(isEnd: () => boolean, trace: Trace): Promise<void> {
    let seen = 0
    for (let since = clock.monotonic(); !isEnd(); await sleep(pollMs)) {
      if (trace.requests.length > seen) {
        seen = trace.requests.length
        since = clock.monotonic()
      }
      if (clock.monotonic() - since > patience) return
    }
  }

  return {
    facts,
    target,
    make,
    play,
    call,
    list,
    get exchanges() {
      return [...requests.map(exchangeOf), ...calls]
    },
    get exchangesOfRun() {
      return requestsOfRun().map(exchangeOf)
    },
    get messages() {
      return messages
    },
  }
}

function answerWith(request: Mutable<PlatformRequest>, settle: () => void): ReturnType<Player['answer']> {
  return {
    reply: request.reply,
    ended(closed) {
      request.endedAt = clock.monotonic()
      if (closed) request.closed = true
      settle()
    },
  }
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

interface OpenTrace extends Trace {
  add(request: PlatformRequest): void
  /** Called when the reply to a request is written. */
  settle(request: PlatformRequest): void
  /** Finds the records of the elements, and counts their arrival. */
  receive(elements: readonly Fields[]): readonly ReceivedMessage[]
}

function createTrace(records: readonly Message[], ofRun: Trace['ofRun']): OpenTrace {
  const requests: PlatformRequest[] = []
  const byId = new Map(records.map((record) => [record.idJson, record]))
  const byHash = new Map(records.map((record) => [hashIn(record.text), record]))
  const counts = new Map<Message, number>()
  const open = new Set(records)
  const of = (record: Message): readonly PlatformRequest[] =>
    requests.filter(({ messages }) => messages.some((message) => message.record === record))
  const given = (record: Message): readonly Given[] => of(record).map((request) => givenIn(request, record))
  return {
    records,
    requests,
    ofRun,
    of,
    given,
    open,
    settle(request) {
      for (const { record } of request.messages) if (isFinal(givenIn(request, record))) open.delete(record)
    },
    add: (request) => void requests.push(request),
    receive(elements) {
      const found = elements.flatMap((element) => {
        const idJson = idOf(element)
        const { trigger_hash: hash } = activityOf(element)
        const record = byId.get(idJson) ?? (typeof hash === 'string' ? byHash.get(hash) : undefined)
        return record ? [{ record, idJson, element }] : []
      })
      for (const record of new Set(found.map((each) => each.record))) counts.set(record, (counts.get(record) ?? 0) + 1)
      return found.map((each) => ({ ...each, attempt: counts.get(each.record) as number }))
    },
  }
}

const hashIn = (text: string): string | undefined => /"trigger_hash":"([^"]*)"/.exec(text)?.[1]

/** The outcome of a record that the platform can read in the answer to a request. */
export function givenIn({ messages, reply, endedAt, closed }: PlatformRequest, record: Message): Given {
  const message = messages.find((each) => each.record === record)
  return message === undefined || closed || endedAt === undefined ? 'retry' : reply.given(message)
}

export const isFinal = (given: Given): boolean => given === 'successful' || given === 'failed'

const isSettled = (trace: Trace): boolean => trace.open.size === 0
