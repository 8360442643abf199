// The one send path (design §5): admit → claim → suppress → depart → the provider → settle. Itself a Provider.
// A single send is a batch of one with another answer; what arrives in the same turn travels together, as a flight.

import type { Fatal } from '../contract/outcome.ts'
import type { Flight, Message, Pause, Provider, Result, SendContext, Wrap } from '../providers/provider.ts'
import { emit, listened } from '../runtime/events.ts'
import { gather } from '../runtime/gather.ts'
import { uuidv7 } from '../runtime/ids.ts'
import { createLine } from '../runtime/line.ts'
import { createPassingMap, type PassingMap } from '../runtime/passing-map.ts'
import { createTurns } from '../runtime/turns.ts'
import type { Database } from '../store/database.ts'
import { createAdmission, deliveredBefore, type Verdict } from './admission.ts'
import { type Claim, claim } from './claim.ts'
import { depart } from './depart.ts'
import { createIdWatch } from './id-watch.ts'
import { type Settle, type Settled, settlement } from './settle.ts'
import { createTextWatch } from './text-watch.ts'

export interface SendPathOptions {
  readonly database: Database
  /** Already guarded: it answers once for each message and never throws. */
  readonly provider: Provider
  readonly suppress: Wrap
  /** Provider calls at a time. */
  readonly concurrency: number
  /** Messages in progress at once; what comes on top is fatal, unless its brand has less than its share of them. */
  readonly inProgress: number
  /** A message that did not reach its provider within this time is given up as fatal. */
  readonly workMs: number
}

export interface SendPath extends Provider {
  /**
   * To be waited for before a batch is taken apart: thousands of messages in hand that only wait for their turn cost far more
   * than their text. Not for long: a push service that hangs is not the trouble of those that work.
   *
   * @param bytes of the body that waits
   */
  room(bytes: number): Promise<void> | undefined
  /** Resolves when nothing is in progress. */
  idle(): Promise<void>
}

/** Who waits for a message: which call, and where in its answer. */
interface Asker {
  readonly answer: (place: number, result: Result) => void
  readonly place: number
}

interface Work extends Asker {
  /** As it was asked for; after the claim with the identifier and the attempt of the row. */
  message: Message
  /** Who asked for the same message meanwhile. */
  also?: Asker[]
  /** Until when another process's attempt is waited for. */
  patience?: number
  /** The paused service that it tries. */
  probes?: string
  /** Once it is there; it may not be settled yet. */
  result?: Result
}
type Known = Work & Settled

/** Messages in hand for each that is sent at a time: some are ready when one is answered, whatever a service takes for it. */
const ready = 1.5
/** How long a batch waits for room, and how many bytes of them. */
const putOff = { patienceMs: 500, mostWeight: 256 * 1024 * 1024 }
/** What is told of the messages of one request is settled every so often: each piece is a transaction. */
const pieceMs = 50
/** How long a message that another living process is sending is waited for, and how often it is looked at. */
const elsewhere = { waitMs: 2_000, everyMs: 100 }

export function createSendPath({
  database,
  provider,
  suppress,
  concurrency,
  inProgress,
  workMs,
}: SendPathOptions): SendPath {
  const inner = suppress(depart(database)(provider))
  const admission = createAdmission(database, provider)
  const turns = createTurns(concurrency, Number.POSITIVE_INFINITY)
  const watchId = createIdWatch()
  const watchText = createTextWatch()
  /** By brand and key. */
  const working = new Map<string, PassingMap<string, Work>>()
  let inHand = 0
  /** Brands with messages in hand. */
  let brands = 0
  /** Those in hand of which no result is there yet. */
  let unknown = 0
  const { atOnce = Number.POSITIVE_INFINITY } = provider
  const line = createLine(() => unknown < ready * atOnce, putOff)
  const idlers: (() => void)[] = []

  const begin = gather<Work>((works) => {
    // Of one brand: a source that hangs for one is not the other's trouble.
    for (const ofBrand of Map.groupBy(works, ({ message }) => message.brand).values())
      for (let from = 0; from < ofBrand.length; from += inner.max) void board(ofBrand.slice(from, from + inner.max))
  })
  // Work goes on when its request was answered or its process is stopping: stopping waits for it.
  const never = new AbortController().signal

  async function board(works: readonly Work[]): Promise<void> {
    const verdicts = admission.judge(works.map((w) => w.message))
    const admitted = verdicts ? admit(works, await verdicts) : works
    if (admitted.length > 0) await claimAndDeliver(admitted)
  }

  /** Answers those that are refused. @returns the others */
  function admit(works: readonly Work[], verdicts: readonly Verdict[]): readonly Work[] {
    return works.filter((work, i) => {
      const verdict = verdicts[i] as Verdict
      if (!verdict.admitted) finish(work, verdict.result)
      else if (verdict.probes !== undefined) work.probes = verdict.probes
      return verdict.admitted
    })
  }

  async function claimAndDeliver(works: readonly Work[]): Promise<void> {
    const now = Date.now()
    const asked: Flight = { id: uuidv7(), owner: database.owner, messages: works.map((w) => w.message) }
    let claims: ReadonlyMap<Message, Claim>
    try {
      claims = await claim(database, asked)
    } catch (error) {
      for (const work of works) finish(work, storeAway(error))
      return
    }
    const mine: Work[] = []
    for (const work of works) {
      const { message } = work
      const found = claims.get(message)
      if (!found || found.is === 'taken over') {
        if (found) work.message = { ...message, ref: found.ref, attempt: found.attempt }
        watchId(message)
        mine.push(work)
      } else if (found.is === 'delivered') {
        emit('message.repeated', { brand: message.brand, ref: found.ref, category: 'successful' })
        finish(work, deliveredBefore(found.ref))
      } else {
        found.is satisfies 'elsewhere'
        work.patience ??= now + elsewhere.waitMs
        void awaitElsewhere(work, work.patience)
      }
    }
    if (listened('message.claimed')) {
      for (const { message: m } of mine) emit('message.claimed', { brand: m.brand, ref: m.ref, attempt: m.attempt })
    }
    if (mine.length === 0) return
    const flight = claims.size === 0 ? asked : { ...asked, messages: mine.map((w) => w.message) }
    await deliver(mine, flight, { deadline: now + workMs, signal: never, flight })
  }

  async function awaitElsewhere(work: Work, until: number): Promise<void> {
    if (Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, elsewhere.everyMs))
      return claimAndDeliver([work])
    }
    finish(work, {
      category: 'fatal',
      reason: 'in_flight',
      blame: 'message',
      retryAfterMs: elsewhere.waitMs,
      rule: 'row 29: in flight elsewhere',
      error: 'another process is sending this message now; ask again for its outcome',
    })
  }

  async function deliver(works: readonly Work[], flight: Flight, context: SendContext): Promise<void> {
    // The slot comes before the suppression look-up: an answer must not grow old in a queue.
    const turn = turns.take(context.deadline, works[0]?.message.brand)
    const late = turn !== true && !(await turn)
    const settle = settlement(database, flight)
    const told =
      inner.departs && works.length > 1 ? tellable(works, know, (known) => settleSome(settle, known)) : undefined
    let results: readonly Result[]
    try {
      results =
        (turn === true ? undefined : await giveUp(flight.messages, late)) ??
        (await inner.send(flight.messages, told ? { ...context, tell: told.tell } : context))
    } catch (error) {
      results = works.map(() => storeAway(error))
    }
    if (!late) turns.give()
    const known = told ? told.take() : []
    for (let i = 0; i < works.length; i++) {
      const work = works[i] as Work
      if (!work.result) known.push(know(work, results[i] as Result))
    }
    if (known.length > 0) await settleSome(settle, known)
  }

  /** What waited for a slot may be too late by now, or have seen its provider pause. Undefined: it is to be sent. */
  async function giveUp(messages: readonly Message[], late: boolean): Promise<readonly Result[] | undefined> {
    if (late) return messages.map(() => ({ ...unsent, untried: true }))
    const pauses = await provider.findPauses?.(messages)
    if (!pauses?.every((pause) => pause && pause.restMs > 0)) return undefined
    return (pauses as readonly Pause[]).map(({ refusal }) => ({ ...refusal, untried: true }))
  }

  async function settleSome(settle: Settle, known: readonly Known[]): Promise<void> {
    try {
      for (const work of known) if (work.result.textMissingAt) noteMissingText(work, work.result.textMissingAt)
      await settle(known)
    } catch (error) {
      // Whether it was delivered is in nobody's books: the next attempt finds the claim in flight and takes it over.
      for (const work of known) finish(work, storeAway(error))
      return
    }
    for (const work of known) {
      const { message, result } = work
      // A provider may have an identifier of its own; ours is the one that the platform gets (row 5).
      finish(work, result.ref === message.ref ? result : { ...result, ref: message.ref })
    }
    if (listened('message.settled')) for (const each of known) announce(each)
  }

  function know(work: Work, result: Result): Known {
    work.result = result
    unknown--
    line.move()
    return work as Known
  }

  function noteMissingText(work: Work, pointers: readonly string[]): void {
    const { message, result } = work
    if (result?.category !== 'successful') return
    watchText(message.brand, message.channel, pointers)
    work.result = { ...result, rule: `${result.rule}, without title and body` }
  }

  function finish(work: Work, result: Result): void {
    if (!work.result) know(work, result)
    const { brand, key } = work.message
    const ofBrand = working.get(brand)
    ofBrand?.remove(key)
    if (ofBrand?.size === 0) brands--
    inHand--
    if (work.probes !== undefined) admission.release(work.probes)
    work.answer(work.place, result)
    if (work.also) for (const { answer, place } of work.also) answer(place, result)
    if (inHand === 0) for (const idle of idlers.splice(0)) idle()
  }

  /** Of the messages in progress, for a brand with so many in hand. One brand's backlog must not keep another's messages out. */
  const share = (size: number): number => inProgress / (size === 0 ? brands + 1 : brands)

  function enter(message: Message, answer: Asker['answer'], place: number): void {
    const { brand, key } = message
    const ofBrand = working.get(brand) ?? createPassingMap<string, Work>()
    const same = ofBrand.get(key)
    if (same) {
      same.also ??= []
      same.also.push({ answer, place })
    } else if (inHand >= inProgress && ofBrand.size >= share(ofBrand.size)) answer(place, overloaded)
    else {
      const work: Work = { message: asPart(message), answer, place }
      if (ofBrand.size === 0) {
        working.set(brand, ofBrand)
        brands++
      }
      ofBrand.add(key, work)
      inHand++
      unknown++
      begin(work)
    }
  }

  return {
    ...provider,
    name: provider.name,
    max: Number.MAX_SAFE_INTEGER,
    // Answers by the deadline: what is unfinished is fatal, its work goes on, and the next attempt gets the result.
    send: (messages, { deadline }) =>
      new Promise((resolve) => {
        const results = new Array<Result | undefined>(messages.length).fill(undefined)
        let open = messages.length
        const end = (): void => {
          clearTimeout(timer)
          if (open > 0) emit('budget.spent', { channel: messages[0]?.channel ?? '', unfinished: open })
          resolve(results.map((result) => result ?? unfinished))
        }
        const timer = setTimeout(end, deadline - Date.now())
        if (open === 0) end()
        const answer = (place: number, result: Result): void => {
          results[place] = result
          if (--open === 0) end()
        }
        for (let i = 0; i < messages.length; i++) enter(messages[i] as Message, answer, i)
      }),
    room: (bytes) => line.enter(bytes),
    idle: () => (inHand === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
  }
}

/** Takes results one by one, and hands them on by the piece. */
function tellable(
  works: readonly Work[],
  know: (work: Work, result: Result) => Known,
  settle: (piece: readonly Known[]) => Promise<void>,
) {
  const workOf = new Map(works.map((work) => [work.message, work]))
  const [first] = works
  // Of one request nobody is answered before all are settled; of several each waits for its own.
  const afterMs = works.every(({ message }) => message.part?.of === first?.message.part?.of) ? pieceMs : 0
  let told: Known[] = []
  let timer: NodeJS.Timeout | undefined
  /** What was told since. */
  function take(): Known[] {
    const piece = told
    told = []
    clearTimeout(timer)
    timer = undefined
    return piece
  }
  return {
    tell(message: Message, result: Result): void {
      const work = workOf.get(message)
      if (!work || work.result) return
      told.push(know(work, result))
      timer ??= setTimeout(() => void settle(take()), afterMs)
    },
    take,
  }
}

/** A message that came alone is the whole of its request. Made here, since its `ref` may give way to that of an earlier attempt. */
const asPart = (m: Message): Message => (m.part ? m : { ...m, part: { of: { id: m.ref, text: m.text }, start: 0 } })

const overloaded: Fatal = {
  category: 'fatal',
  reason: 'overloaded',
  blame: 'provider',
  retryAfterMs: 1_000,
  rule: 'row 13: overload',
  error: 'too many messages in progress; ask again in a second',
}

const unsent: Fatal = {
  category: 'fatal',
  reason: 'timeout',
  blame: 'provider',
  rule: 'the deadline passed before the call',
  error: 'not sent: the provider had no room in time',
}

const unfinished: Fatal = {
  category: 'fatal',
  reason: 'timeout',
  blame: 'message',
  retryAfterMs: 1_000,
  rule: 'answer budget spent',
  error: 'not finished in time; the work goes on, ask again for its outcome',
}

function storeAway(error: unknown): Fatal {
  const what = error instanceof Error ? error.message : String(error)
  return {
    category: 'fatal',
    reason: 'unavailable',
    blame: 'provider',
    rule: 'store: no answer',
    error: `the store cannot answer (${what})`,
  }
}

function announce({ message: m, result }: Settled): void {
  emit('message.settled', {
    brand: m.brand,
    channel: m.channel,
    ref: m.ref,
    category: result.category,
    rule: result.rule,
    attempt: m.attempt,
    uncertain: result.category === 'fatal' && result.uncertain === true,
  })
}
