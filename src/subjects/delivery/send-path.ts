// The send path, in the order of this file: receive → admit → claim → suppress → deliver → settle → answer.
// A single send is a batch of one message. New messages of one turn of the event loop are claimed together.

import type { ErasedPeople } from '../../base/people/erasures.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit, hasListeners } from '../../base/runtime/events.ts'
import { gather } from '../../base/runtime/gather.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { sleep } from '../../base/runtime/sleep.ts'
import { createTransientMap, type TransientMap } from '../../base/runtime/transient-map.ts'
import type { Database } from '../../base/store/database.ts'
import type { Failed, Fatal } from '../../contract/outcome.ts'
import { refuseFailed, refuseFatal } from '../../contract/refusals.ts'
import type { Message, Pause, Result, SendContext } from '../providers/provider.ts'
import { type Admission, createAdmission, deliveredBefore } from './admission.ts'
import { type ClaimMessages, createClaim } from './claim.ts'
import type { Delivery, DeliveryContext } from './delivery.ts'
import { withoutErased } from './erased-messages.ts'
import type { Permission } from './permission.ts'
import { createReports } from './reports.ts'
import { type Settled, type SettledOps, settle } from './settle.ts'
import { createTextWatch } from './text-watch.ts'

export interface SendPathOptions {
  readonly database: Database
  readonly delivery: Delivery
  /** Absent: every message may be sent. */
  readonly checkMessage?: ((message: Message) => Promise<Checked>) | undefined
  /** Operations that are committed with each settle. */
  readonly settledOps?: SettledOps | undefined
  /** Repetitions of their erased messages are not sent. */
  readonly erased?: Pick<ErasedPeople, 'find'>
  /** Most messages in progress. Any further message is fatal, unless its brand has less than its share of them. */
  readonly inProgress: number
  /** A message that does not reach its provider within this time is fatal. */
  readonly workMs: number
}

/** The result of a check whether a message may be sent now. */
export interface Checked {
  /** The outcome of a message that must not be sent. */
  readonly refusal?: Failed | Fatal | undefined
  /** The proof of permission. */
  readonly permission?: Permission
}

export interface SendPath {
  /** One result for each message, in the same order, by the deadline. Never rejects. */
  send(messages: readonly Message[], context: Pick<SendContext, 'deadline'>): Promise<readonly Result[]>
  /** Refuses messages without a write, unless they were delivered before. Never rejects. */
  refuse(messages: readonly Message[], refusal: Fatal): Promise<readonly Result[]>
  /** Resolves when nothing is in progress. */
  idle(): Promise<void>
}

/** A message in progress. */
interface Work {
  /** After the claim: with the identifier and the attempt of its row. */
  message: Message
  /** The callers that wait for its result. */
  readonly callers: ((result: Result) => void)[]
  /** The owner of the claim, as Database.owner was at the time of the claim. */
  owner: string
  /** End of the wait for another process that is sending the message, in epoch milliseconds. */
  waitUntil?: number
  /** The paused service that the message probes. */
  probedService?: string
  /** The last check. */
  permission?: Permission | undefined
  /** The last check that allowed the message: a push to one device may be sent before that to another device is refused. */
  allowance?: Permission | undefined
  /** Set before the settle. */
  result?: Result
}

/** A batch of which a message has its result waits this long for the next result. */
const stragglerMs = 1_000
/** Most messages that are claimed in one commit. */
const claimBatch = 1_000
/** The wait for another living process that is sending a message, and how often its claim is read meanwhile. */
const otherProcess = { waitMs: 2_000, everyMs: 100 }

/**
 * @example
 * const path = createSendPath({ database, delivery, checkMessage: suppression.checkMessage, inProgress: 10_000, workMs: 50_000 })
 * const [result] = await path.send([message], { deadline: Date.now() + 20_000 })
 */
export const createSendPath = (options: SendPathOptions): SendPath => new Path(options)

class Path implements SendPath {
  readonly #options: SendPathOptions
  readonly #claimMessages: ClaimMessages
  readonly #admission: Admission
  readonly #texts = createTextWatch()
  /** The messages in progress, by brand and key. */
  readonly #works = new Map<string, TransientMap<string, Work>>()
  #inProgress = 0
  /** Brands with messages in progress. */
  #brands = 0
  readonly #idleWaiters: (() => void)[] = []
  // Work goes on after its request was answered, and while the process is stopping: the stop waits for it.
  readonly #neverAborted = new AbortController().signal

  constructor(options: SendPathOptions) {
    const { database, delivery, erased } = options
    this.#options = options
    const claim = createClaim({ database, transactional: delivery.transactional })
    this.#claimMessages = erased ? withoutErased(database, erased, claim) : claim
    this.#admission = createAdmission(database, delivery)
  }

  /**
   * Unfinished messages are answered as fatal at the deadline, and before it if only stragglers are left: a push service that hangs
   * must not hold the answer of the others, and the request's place in the platform's lane. Their work goes on, and the next attempt
   * gets its result.
   */
  send(messages: readonly Message[], { deadline }: Pick<SendContext, 'deadline'>): Promise<readonly Result[]> {
    return new Promise((resolve) => {
      const results = new Array<Result | undefined>(messages.length).fill(undefined)
      let open = messages.length
      let stragglers: NodeJS.Timeout | undefined
      let lastResultAt = 0
      const end = (refusal: Fatal): void => {
        clock.clearTimeout(timer)
        clock.clearTimeout(stragglers)
        resolve(results.map((result) => result ?? refusal))
      }
      const timer = clock.setTimeout(() => {
        emit('budget.spent', { channel: messages[0]?.channel ?? '', unfinished: open })
        end(unfinished)
      }, deadline - clock.now())
      const endWithoutStragglers = (): void => {
        const restMs = lastResultAt + stragglerMs - clock.monotonic()
        if (restMs > 0) stragglers = clock.setTimeout(endWithoutStragglers, restMs)
        else end({ ...unfinished, service: this.#options.delivery.name })
      }
      if (open === 0) return end(unfinished)
      messages.forEach((message, i) => {
        this.#receive(message, (result) => {
          results[i] = result
          if (--open === 0) return end(unfinished)
          lastResultAt = clock.monotonic()
          stragglers ??= clock.setTimeout(endWithoutStragglers, stragglerMs)
        })
      })
    })
  }

  refuse(messages: readonly Message[], refusal: Fatal): Promise<readonly Result[]> {
    return this.#admission.refuse(messages, refusal)
  }

  #receive(message: Message, caller: (result: Result) => void): void {
    const { brand, key } = message
    const ofBrand = this.#works.get(brand) ?? createTransientMap<string, Work>()
    const same = ofBrand.get(key)
    if (same) {
      same.callers.push(caller)
      return
    }
    if (!this.#isBelowLimit(ofBrand.size)) {
      caller(overloaded)
      return
    }
    const work: Work = { message: withPart(message), callers: [caller], owner: '' }
    if (ofBrand.size === 0) {
      this.#works.set(brand, ofBrand)
      this.#brands++
    }
    ofBrand.add(key, work)
    this.#inProgress++
    this.#admitTogether(work)
  }

  /** @param ofBrand messages of the brand in progress: the backlog of one brand must not keep out messages of another */
  #isBelowLimit(ofBrand: number): boolean {
    const { inProgress } = this.#options
    return this.#inProgress < inProgress || ofBrand < inProgress / (ofBrand === 0 ? this.#brands + 1 : this.#brands)
  }

  readonly #admitTogether = gather<Work>((works) => {
    // Each brand separately: an attribute source that hangs for one brand delays no other brand.
    for (const ofBrand of Map.groupBy(works, ({ message }) => message.brand).values())
      for (const part of split(ofBrand, claimBatch)) void this.#admit(part)
  })

  /** A message is refused before its claim, without a write, while all services that reach it are paused. */
  async #admit(works: readonly Work[]): Promise<void> {
    const admission = this.#admission.admit(works.map(({ message }) => message))
    if (!admission) return this.#claim(works)
    const verdicts = await admission
    const admitted = works.filter((work, i) => {
      const verdict = verdicts[i]
      if (verdict?.admitted === false) this.#answer(work, verdict.result)
      else if (verdict?.probedService !== undefined) work.probedService = verdict.probedService
      return verdict?.admitted !== false
    })
    if (admitted.length > 0) await this.#claim(admitted)
  }

  async #claim(works: readonly Work[]): Promise<void> {
    const { database, delivery } = this.#options
    const { owner } = database
    const startedAt = clock.monotonic()
    let claims: Awaited<ReturnType<ClaimMessages>>
    try {
      claims = await this.#claimMessages(works.map(({ message }) => message))
    } catch (error) {
      return this.#answerAll(works, storeUnavailable(error))
    }
    const claimed: Work[] = []
    for (const work of works) {
      const { message } = work
      const claim = claims.get(message)
      work.owner = owner
      if (claim?.is === 'delivered') {
        emit('message.repeated', { brand: message.brand, ref: claim.ref, category: 'successful' })
        this.#answer(work, deliveredBefore(claim.ref))
      } else if (claim?.is === 'erased') {
        this.#answer(work, { ...refuseFailed('erased'), ref: claim.ref })
      } else if (claim?.is === 'elsewhere') {
        work.waitUntil ??= startedAt + otherProcess.waitMs
        void this.#awaitOtherProcess(work, work.waitUntil)
      } else {
        if (claim) work.message = { ...message, ref: claim.ref, attempt: claim.attempt }
        claimed.push(work)
      }
    }
    if (hasListeners('message.claimed'))
      for (const { message: m } of claimed) emit('message.claimed', { brand: m.brand, ref: m.ref, attempt: m.attempt })
    for (const part of split(claimed, delivery.max)) void this.#deliver(part, clock.now() + this.#options.workMs)
  }

  async #awaitOtherProcess(work: Work, until: number): Promise<void> {
    if (clock.monotonic() >= until)
      return this.#answer(work, refuseFatal('in_flight_elsewhere', { retryAfterMs: otherProcess.waitMs }))
    await sleep(otherProcess.everyMs)
    return this.#claim([work])
  }

  async #deliver(claimed: readonly Work[], deadline: number): Promise<void> {
    const { database, delivery } = this.#options
    // Wait for the slot before suppression is checked: the result of the check must not grow old in a queue.
    const slot = delivery.slots.acquire(deadline, claimed[0]?.message.brand)
    if (slot !== true) {
      if (!(await slot)) return this.#giveUp(claimed, () => noSlotInTime)
      const pauses = await this.#findPauses(claimed)
      if (pauses) {
        delivery.slots.release()
        return this.#giveUp(claimed, (i) => (pauses[i] as Pause).refusal)
      }
    }
    const works = await this.#suppress(claimed)
    const reports = createReports(works, (reported) => this.#settle(reported))
    if (works.length > 0) {
      const [{ owner }] = works as [Work]
      const fence = (): Fatal | undefined => (database.holdsLease(owner) ? undefined : leaseLost)
      const messages = works.map(({ message }) => message)
      const checkMessage: DeliveryContext['checkMessage'] = (message) => this.#checkAgain(message)
      const context = { deadline, signal: this.#neverAborted, fence, checkMessage, report: reports.report }
      const results = fence() ? [] : await delivery.deliver(messages, context)
      works.forEach(({ message }, i) => {
        reports.report(message, results[i] ?? leaseLost)
      })
    }
    delivery.slots.release()
    await reports.flush()
  }

  /** While messages waited for a slot, all services that reach them may have been paused. Undefined: they can be sent. */
  async #findPauses(works: readonly Work[]): Promise<readonly (Pause | undefined)[] | undefined> {
    const pauses = await this.#options.delivery.findPauses(works.map(({ message }) => message))
    return pauses?.every((pause) => pause && pause.restMs > 0) ? pauses : undefined
  }

  /** Settles messages that were not tried: the rule is their only evidence. */
  #giveUp(works: readonly Work[], refusalOf: (index: number) => Fatal): Promise<void> {
    works.forEach((work, i) => {
      work.result = { ...refusalOf(i), untried: true }
    })
    return this.#settle(works)
  }

  /** @returns the works that may be delivered; the others are settled as refused */
  async #suppress(works: readonly Work[]): Promise<readonly Work[]> {
    const refusals = await Promise.all(works.map((work) => this.#check(work)))
    const refused = works.filter((work, i) => {
      const refusal = refusals[i]
      if (refusal) work.result = refusal
      return refusal !== undefined
    })
    if (refused.length === 0) return works
    void this.#settle(refused)
    return works.filter(({ result }) => result === undefined)
  }

  async #check(work: Work): Promise<Failed | Fatal | undefined> {
    const { checkMessage } = this.#options
    if (!checkMessage) return undefined
    const { refusal, permission } = await checkMessage(work.message)
    work.permission = permission
    if (!refusal) work.allowance = permission
    return refusal
  }

  async #checkAgain(message: Message): Promise<Failed | Fatal | undefined> {
    const work = this.#works.get(message.brand)?.get(message.key)
    return work ? this.#check(work) : unfinished
  }

  /** @param works claimed by the same owner, each with its result */
  async #settle(works: readonly Work[]): Promise<void> {
    const settled = works.map(({ message, result, permission, allowance = permission }) => ({
      message,
      result: this.#noteMissingText(message, result as Result),
      permission: mayHaveArrived(result as Result) ? allowance : permission,
    }))
    const [{ owner }] = works as [Work]
    try {
      await settle(this.#options.database, owner, settled, this.#options.settledOps)
    } catch (error) {
      // It is unknown whether the settle was written: the next attempt finds the claim in flight and takes it over.
      return this.#answerAll(works, storeUnavailable(error))
    }
    works.forEach((work, i) => {
      const { message, result } = settled[i] as Settled
      // The platform gets the operator's identifier, also if the provider returned its own (row 5).
      this.#answer(work, result.ref === message.ref ? result : { ...result, ref: message.ref })
    })
    if (hasListeners('message.settled')) for (const each of settled) emitSettled(each)
  }

  /** A message without title and body is delivered, but raises a warning, and its rule says so. */
  #noteMissingText({ brand, channel }: Message, result: Result): Result {
    if (result.category !== 'successful') return result
    if (result.textMissingAt === undefined) {
      this.#texts.recordFound(brand, channel)
      return result
    }
    this.#texts.recordMissing(brand, channel, result.textMissingAt)
    return { ...result, rule: `${result.rule}, without title and body` }
  }

  #answerAll(works: readonly Work[], result: Result): void {
    for (const work of works) this.#answer(work, result)
  }

  #answer(work: Work, result: Result): void {
    const { brand, key } = work.message
    const ofBrand = this.#works.get(brand)
    ofBrand?.remove(key)
    if (ofBrand?.size === 0) this.#brands--
    this.#inProgress--
    if (work.probedService !== undefined) this.#admission.release(work.probedService)
    for (const resolve of work.callers) resolve(result)
    if (this.#inProgress === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve()
  }

  idle(): Promise<void> {
    return this.#inProgress === 0 ? Promise.resolve() : new Promise((resolve) => this.#idleWaiters.push(resolve))
  }
}

const mayHaveArrived = (result: Result): boolean =>
  result.category === 'successful' || (result.category === 'fatal' && result.uncertain === true)

/** A single send is a request of one message. */
const withPart = (m: Message): Message => (m.part ? m : { ...m, part: { of: { single: true }, position: 0 } })

function* split<T>(items: readonly T[], max: number): Generator<readonly T[]> {
  if (items.length > 0 && items.length <= max) yield items
  else for (let from = 0; from < items.length; from += max) yield items.slice(from, from + max)
}

function emitSettled({ message: m, result }: Settled): void {
  emit('message.settled', {
    brand: m.brand,
    channel: m.channel,
    id: m.id,
    ref: m.ref,
    category: result.category,
    ...(result.category !== 'successful' && { reason: result.reason }),
    rule: result.rule,
    attempt: m.attempt,
    uncertain: result.category === 'fatal' && result.uncertain === true,
  })
}

const overloaded = refuseFatal('overloaded')
const unfinished = refuseFatal('unfinished')
const leaseLost = refuseFatal('lease_lost')
const noSlotInTime = refuseFatal('too_late', {
  error: 'not sent: the provider was at its concurrency limit until the deadline',
})

const storeUnavailable = (error: unknown): Fatal =>
  refuseFatal('store_unavailable', {
    error: `the store cannot answer (${messageOf(error)})`,
  })
