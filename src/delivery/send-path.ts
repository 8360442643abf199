// The one send path, read from top to bottom: receive → admit → claim → suppress → deliver → settle → answer (design §5).
// A single send is a batch of one with another answer; new messages of one turn of the event loop are claimed together.

import type { Failed, Fatal } from '../contract/outcome.ts'
import type { Message, Pause, Result, SendContext } from '../providers/provider.ts'
import { emit, hasListeners } from '../runtime/events.ts'
import { createFairSemaphore, type FairSemaphore } from '../runtime/fair-semaphore.ts'
import { gather } from '../runtime/gather.ts'
import { createTransientMap, type TransientMap } from '../runtime/transient-map.ts'
import type { Database } from '../store/database.ts'
import { type Admission, createAdmission, deliveredBefore } from './admission.ts'
import { type ClaimMessages, createClaim } from './claim.ts'
import type { Delivery } from './delivery.ts'
import { createIdWatch } from './id-watch.ts'
import { createReports } from './reports.ts'
import * as refusals from './send-refusals.ts'
import { type Settled, settle } from './settle.ts'
import { createTextWatch } from './text-watch.ts'

export interface SendPathOptions {
  readonly database: Database
  readonly delivery: Delivery
  /** Why a message must not be sent, or undefined. Absent: every message may be sent. */
  readonly judge?: ((message: Message) => Promise<Failed | Fatal | undefined>) | undefined
  /** Messages in progress at once; the excess is fatal, unless its brand has less than its share of them. */
  readonly inProgress: number
  /** A message that did not reach its provider within this time is given up as fatal. */
  readonly workMs: number
}

export interface SendPath {
  /** One result for each message, in the same order, by the deadline. Never rejects. */
  send(messages: readonly Message[], context: Pick<SendContext, 'deadline'>): Promise<readonly Result[]>
  /** Resolves when nothing is in progress. */
  idle(): Promise<void>
}

/** A message in progress. */
interface Work {
  /** After the claim with the identifier and the attempt of its row. */
  message: Message
  /** The callers that wait for its result. */
  readonly callers: ((result: Result) => void)[]
  /** The process as the store knew it when it claimed the message. */
  owner: string
  /** Until when another process's attempt is waited for, in epoch milliseconds. */
  patience?: number
  /** The paused service that it tries. */
  probes?: string
  /** It is there, perhaps not settled yet. */
  result?: Result
}

/** Messages that are claimed in one commit. */
const mostClaimed = 1_000
/** How long a message that another living process is sending is waited for, and how often it is looked at. */
const elsewhere = { waitMs: 2_000, everyMs: 100 }

/**
 * @example
 * const path = createSendPath({ database, delivery, judge: suppression.judge, inProgress: 10_000, workMs: 50_000 })
 * const [result] = await path.send([message], { deadline: Date.now() + 20_000 })
 */
export const createSendPath = (options: SendPathOptions): SendPath => new Path(options)

class Path implements SendPath {
  readonly #options: SendPathOptions
  readonly #claimMessages: ClaimMessages
  readonly #admission: Admission
  readonly #slots: FairSemaphore
  readonly #watchId = createIdWatch()
  readonly #watchText = createTextWatch()
  /** By brand and key. */
  readonly #working = new Map<string, TransientMap<string, Work>>()
  #inProgress = 0
  /** Brands with messages in progress. */
  #brands = 0
  readonly #idlers: (() => void)[] = []
  // Work goes on after its request was answered, and while the process is stopping: stopping waits for it.
  readonly #never = new AbortController().signal

  constructor(options: SendPathOptions) {
    const { database, delivery } = options
    this.#options = options
    this.#claimMessages = createClaim({ database, transactional: delivery.transactional })
    this.#admission = createAdmission(database, delivery)
    this.#slots = createFairSemaphore(delivery.concurrency, Number.POSITIVE_INFINITY)
  }

  /** By the deadline everything is answered: unfinished work goes on, and the next attempt gets its result. */
  send(messages: readonly Message[], { deadline }: Pick<SendContext, 'deadline'>): Promise<readonly Result[]> {
    return new Promise((resolve) => {
      const results = new Array<Result | undefined>(messages.length).fill(undefined)
      let open = messages.length
      const end = (): void => {
        clearTimeout(timer)
        if (open > 0) emit('budget.spent', { channel: messages[0]?.channel ?? '', unfinished: open })
        resolve(results.map((result) => result ?? refusals.unfinished))
      }
      const timer = setTimeout(end, deadline - Date.now())
      if (open === 0) return end()
      messages.forEach((message, place) => {
        this.#receive(message, (result) => {
          results[place] = result
          if (--open === 0) end()
        })
      })
    })
  }

  #receive(message: Message, caller: (result: Result) => void): void {
    const { brand, key } = message
    const ofBrand = this.#working.get(brand) ?? createTransientMap<string, Work>()
    const same = ofBrand.get(key)
    if (same) {
      same.callers.push(caller)
      return
    }
    if (!this.#hasRoom(ofBrand.size)) {
      caller(refusals.overloaded)
      return
    }
    const work: Work = { message: asPart(message), callers: [caller], owner: '' }
    if (ofBrand.size === 0) {
      this.#working.set(brand, ofBrand)
      this.#brands++
    }
    ofBrand.add(key, work)
    this.#inProgress++
    this.#received(work)
  }

  /** @param ofBrand the brand's messages in progress: one brand's backlog must not keep another's messages out */
  #hasRoom(ofBrand: number): boolean {
    const { inProgress } = this.#options
    return this.#inProgress < inProgress || ofBrand < inProgress / (ofBrand === 0 ? this.#brands + 1 : this.#brands)
  }

  readonly #received = gather<Work>((works) => {
    // Brand by brand: an attribute source that hangs for one brand does not hold up another.
    for (const ofBrand of Map.groupBy(works, ({ message }) => message.brand).values())
      for (const part of parts(ofBrand, mostClaimed)) void this.#admit(part)
  })

  /** While everything that reaches a message is paused, it is refused before it is claimed: nothing is written. */
  async #admit(works: readonly Work[]): Promise<void> {
    const judging = this.#admission.judge(works.map(({ message }) => message))
    if (!judging) return this.#claim(works)
    const verdicts = await judging
    const admitted = works.filter((work, i) => {
      const verdict = verdicts[i]
      if (verdict?.admitted === false) this.#answer(work, verdict.result)
      else if (verdict?.probes !== undefined) work.probes = verdict.probes
      return verdict?.admitted !== false
    })
    if (admitted.length > 0) await this.#claim(admitted)
  }

  async #claim(works: readonly Work[]): Promise<void> {
    const { database, delivery } = this.#options
    const { owner } = database
    const now = Date.now()
    let claims: Awaited<ReturnType<ClaimMessages>>
    try {
      claims = await this.#claimMessages(works.map(({ message }) => message))
    } catch (error) {
      return this.#answerAll(works, refusals.storeAway(error))
    }
    const mine: Work[] = []
    for (const work of works) {
      const { message } = work
      const claim = claims.get(message)
      work.owner = owner
      if (claim?.is === 'delivered') {
        emit('message.repeated', { brand: message.brand, ref: claim.ref, category: 'successful' })
        this.#answer(work, deliveredBefore(claim.ref))
      } else if (claim?.is === 'elsewhere') {
        work.patience ??= now + elsewhere.waitMs
        void this.#awaitOtherProcess(work, work.patience)
      } else {
        if (claim) work.message = { ...message, ref: claim.ref, attempt: claim.attempt }
        this.#watchId(message)
        mine.push(work)
      }
    }
    if (hasListeners('message.claimed'))
      for (const { message: m } of mine) emit('message.claimed', { brand: m.brand, ref: m.ref, attempt: m.attempt })
    for (const part of parts(mine, delivery.max)) void this.#deliver(part, now + this.#options.workMs)
  }

  async #awaitOtherProcess(work: Work, until: number): Promise<void> {
    if (Date.now() >= until) return this.#answer(work, refusals.inFlightElsewhere(elsewhere.waitMs))
    await new Promise((resolve) => setTimeout(resolve, elsewhere.everyMs))
    return this.#claim([work])
  }

  async #deliver(claimed: readonly Work[], deadline: number): Promise<void> {
    // The slot comes before suppression: "may be sent" must not grow old in a queue.
    const slot = this.#slots.acquire(deadline, claimed[0]?.message.brand)
    if (slot !== true) {
      if (!(await slot)) return this.#giveUp(claimed, () => refusals.noSlotInTime)
      const pauses = await this.#pausesOf(claimed)
      if (pauses) {
        this.#slots.release()
        return this.#giveUp(claimed, (i) => (pauses[i] as Pause).refusal)
      }
    }
    const { database, delivery, judge = permit } = this.#options
    const works = await this.#suppress(claimed, judge)
    const reports = createReports(works, (some) => this.#settle(some))
    if (works.length > 0) {
      const [{ owner }] = works as [Work]
      const fence = (): Fatal | undefined => (database.holdsLease(owner) ? undefined : refusals.leaseLost)
      const messages = works.map(({ message }) => message)
      const context = { deadline, signal: this.#never, fence, judge, report: reports.report }
      const results = fence() ? [] : await delivery.deliver(messages, context)
      works.forEach(({ message }, i) => {
        reports.report(message, results[i] ?? refusals.leaseLost)
      })
    }
    this.#slots.release()
    await reports.end()
  }

  /** While messages waited for a slot, everything that reaches them may have been paused. Undefined: they can be sent. */
  async #pausesOf(works: readonly Work[]): Promise<readonly (Pause | undefined)[] | undefined> {
    const pauses = await this.#options.delivery.findPauses(works.map(({ message }) => message))
    return pauses?.every((pause) => pause && pause.restMs > 0) ? pauses : undefined
  }

  /** Settles messages for which nothing was tried: no evidence is kept but the rule. */
  #giveUp(works: readonly Work[], refusalOf: (place: number) => Fatal): Promise<void> {
    works.forEach((work, i) => {
      work.result = { ...refusalOf(i), untried: true }
    })
    return this.#settle(works)
  }

  /** @returns the works that may be delivered; the others are settled as refused */
  async #suppress(works: readonly Work[], judge: NonNullable<SendPathOptions['judge']>): Promise<readonly Work[]> {
    const verdicts = await Promise.all(works.map(({ message }) => judge(message)))
    const refused = works.filter((work, i) => {
      const verdict = verdicts[i]
      if (verdict) work.result = verdict
      return verdict !== undefined
    })
    if (refused.length === 0) return works
    void this.#settle(refused)
    return works.filter(({ result }) => result === undefined)
  }

  /** Of one owner, each with its result. */
  async #settle(works: readonly Work[]): Promise<void> {
    const settled = works.map(({ message, result }) => ({ message, result: this.#noted(message, result as Result) }))
    const [{ owner }] = works as [Work]
    try {
      await settle(this.#options.database, owner, settled)
    } catch (error) {
      // It is unknown whether the settle was written: the next attempt finds the claim in flight and takes it over.
      return this.#answerAll(works, refusals.storeAway(error))
    }
    works.forEach((work, i) => {
      const { message, result } = settled[i] as Settled
      // A provider may have an identifier of its own; ours is the one that the platform gets (row 5).
      this.#answer(work, result.ref === message.ref ? result : { ...result, ref: message.ref })
    })
    if (hasListeners('message.settled')) for (const each of settled) announce(each)
  }

  /** A message without title and body is delivered, but not without a word. */
  #noted({ brand, channel }: Message, result: Result): Result {
    if (result.textMissingAt === undefined || result.category !== 'successful') return result
    this.#watchText(brand, channel, result.textMissingAt)
    return { ...result, rule: `${result.rule}, without title and body` }
  }

  #answerAll(works: readonly Work[], result: Result): void {
    for (const work of works) this.#answer(work, result)
  }

  #answer(work: Work, result: Result): void {
    const { brand, key } = work.message
    const ofBrand = this.#working.get(brand)
    ofBrand?.remove(key)
    if (ofBrand?.size === 0) this.#brands--
    this.#inProgress--
    if (work.probes !== undefined) this.#admission.release(work.probes)
    for (const caller of work.callers) caller(result)
    if (this.#inProgress === 0) for (const idle of this.#idlers.splice(0)) idle()
  }

  idle(): Promise<void> {
    return this.#inProgress === 0 ? Promise.resolve() : new Promise((resolve) => this.#idlers.push(resolve))
  }
}

const permit = (): Promise<undefined> => Promise.resolve(undefined)

/** A single send is the whole of its request. Made before the claim: the identifier may give way to that of an earlier attempt. */
const asPart = (m: Message): Message =>
  m.part ? m : { ...m, part: { of: { id: m.ref, text: m.text }, start: 0, position: 0 } }

function* parts<T>(items: readonly T[], most: number): Generator<readonly T[]> {
  if (items.length > 0 && items.length <= most) yield items
  else for (let from = 0; from < items.length; from += most) yield items.slice(from, from + most)
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
