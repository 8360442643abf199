// What §7 demands of both sides, in words of its own: this file imports nothing of the engine. It sees the requests and answers on the wire,
// the calls of the provider, and what the platform reports in the end.

export interface ModelledMessage {
  readonly id: string
  /** When it is not worth sending any more, by the platform's clock. */
  readonly expiresAt?: number
  /** What its provider says in the end. */
  readonly truth: 'successful' | 'failed'
}

interface State extends ModelledMessage {
  /** The definite answer that arrived at the platform, and the platform's life in which it did. */
  answered?: { readonly category: 'successful' | 'failed'; readonly life: number; readonly ref: string | undefined }
  /** The platform has stored the outcome. */
  settled: boolean
  /** The operator answered successful, whether or not the answer arrived. */
  operatorAnswered: boolean
  /** The provider said that it sent it, when this many upsets had happened at the operator. */
  sentAtUpset?: number
  /** The operator's life in which a call is open. */
  calling?: number
  ref?: string
  /** Not before, in this life of the platform. */
  notBefore?: { readonly at: number; readonly life: number }
  sends: number
}

export interface PlatformAnswer {
  readonly status: number
  readonly retryAfterSeconds: number | undefined
  readonly body: string
}

export interface FinalReport {
  readonly category: 'waiting' | 'successful' | 'failed'
  readonly reason?: string
  readonly ref?: string
}

/** The engine may catch it, so the first one is kept by the model as well. */
export class Violation extends Error {}

export type Model = ReturnType<typeof createModel>

/** @param limits the agreed shape of the lane */
export function createModel(limits: { mode: 'single' | 'batch'; max: number; concurrency: number }) {
  const messages = new Map<string, State>()
  let open = 0
  let operatorLife = 0
  let platformLife = 0
  /** How often something happened at the operator that may have lost what it knew. */
  let operatorUpsets = 0

  let violation: string | undefined
  const violate: (text: string) => never = (text) => {
    violation ??= text
    throw new Violation(text)
  }

  const find = (id: string): State => {
    const state = messages.get(id)
    return state ?? violate(`message ${id} was never enqueued`)
  }

  return {
    accept: (message: ModelledMessage): void =>
      void messages.set(message.id, { ...message, settled: false, operatorAnswered: false, sends: 0 }),
    operatorUpset: () => void operatorUpsets++,
    operatorDied(): void {
      operatorUpsets++
      operatorLife++
    },
    platformDied(): void {
      platformLife++
      open = 0
    },

    /**
     * The platform begins a request.
     *
     * @param now the time, whatever the platform's clock says
     * @param clock the platform's clock
     */
    request(ids: readonly string[], now: number, clock: number): number {
      const life = platformLife
      if (++open > limits.concurrency) violate(`${open} requests at once; agreed: ${limits.concurrency}`)
      if (ids.length > (limits.mode === 'single' ? 1 : limits.max)) violate(`${ids.length} messages in a request`)
      if (new Set(ids).size < ids.length) violate('an id is in a batch twice')
      for (const state of ids.map(find)) {
        const { id, answered, notBefore, expiresAt = Number.POSITIVE_INFINITY } = state
        if (state.settled) violate(`message ${id} was requested again after its outcome was stored`)
        if (answered?.life === life) violate(`message ${id} was requested again after ${answered.category}`)
        if (notBefore?.life === life && now < notBefore.at)
          violate(`message ${id} was requested ${notBefore.at - now} ms before its Retry-After`)
        if (clock >= expiresAt) violate(`message ${id} was requested after its expiry`)
      }
      return life
    },
    /** The request has an end, with an answer or without. */
    requestEnded(life: number): void {
      if (life === platformLife) open--
    },
    /** An answer left the operator itself, not a proxy. It may be lost on its way. */
    operatorAnswer(ids: readonly string[], answer: PlatformAnswer): void {
      for (const { state, category, ref } of readAnswer(ids, answer)) {
        if (category === 'successful') {
          state.operatorAnswered = true
          if (state.sends === 0) violate(`message ${state.id} is successful, but was never sent`)
          if (ref !== state.ref)
            violate(`message ${state.id} is ${ref} for the platform, ${state.ref} for the provider`)
        }
        if (category === 'failed' && state.truth === 'successful')
          violate(`message ${state.id} is failed, but nobody refused it`)
      }
    },
    /** An answer arrived at the platform. @param now the time, whatever the platform's clock says */
    answerArrived(ids: readonly string[], answer: PlatformAnswer, now: number, life: number): void {
      // It comes too late for the session that asked.
      if (life !== platformLife) return
      for (const { state, category, ref } of readAnswer(ids, answer)) {
        if (category === 'successful' || category === 'failed') state.answered = { category, life, ref }
        else if (answer.retryAfterSeconds !== undefined)
          state.notBefore = { at: now + answer.retryAfterSeconds * 1_000, life }
      }
    },
    stored(id: string): void {
      find(id).settled = true
    },

    /** The operator calls the provider. */
    send(id: string, ref: string): void {
      const state = find(id)
      if (state.operatorAnswered) violate(`message ${id} was sent again after the operator answered successful`)
      if (state.sentAtUpset === operatorUpsets) violate(`message ${id} was sent again without a reason`)
      if (state.calling === operatorLife) violate(`message ${id} is sent twice at once`)
      if (state.ref !== undefined && state.ref !== ref) violate(`message ${id} has two identifiers`)
      state.ref = ref
      state.sends++
      state.calling = operatorLife
    },
    /** The call has an end. `sent`: the operator was told that the message went out; unknown: it was told nothing. */
    sendEnded(id: string, outcome: 'sent' | 'not sent' | 'unknown', upsetsBefore: number): void {
      const state = find(id)
      delete state.calling
      if (outcome === 'sent' && upsetsBefore === operatorUpsets) state.sentAtUpset = upsetsBefore
    },
    get violation() {
      return violation
    },
    get operatorUpsets() {
      return operatorUpsets
    },

    /** After healing: each message has one outcome, and it is the true one. */
    check(reports: ReadonlyMap<string, FinalReport>): void {
      for (const { id, answered, truth, ref, expiresAt, sends } of messages.values()) {
        const report = reports.get(id)
        if (!report) violate(`message ${id} was lost`)
        if (report.category === 'waiting') violate(`message ${id} still waits`)
        if (report.reason === 'expired' && expiresAt !== undefined) continue
        if (!answered) violate(`message ${id} is ${report.category}, but nobody said so`)
        if (answered.category !== report.category)
          violate(`message ${id} was answered ${answered.category}, and the platform has ${report.category}`)
        if (report.category !== 'successful') continue
        // An answer whose body was cut has no identifier.
        if (
          truth !== 'successful' ||
          sends === 0 ||
          ![undefined, ref].includes(answered.ref) ||
          report.ref !== answered.ref
        )
          violate(`message ${id} is successful as ${report.ref}, but the provider has ${truth} and ${ref}`)
      }
    },
  }

  /** §7.1 and §7.2. */
  function readAnswer(ids: readonly string[], { status, body }: PlatformAnswer) {
    const states = ids.map(find)
    if (limits.mode === 'single') {
      const category =
        status >= 200 && status <= 299 ? 'successful' : status >= 400 && status <= 499 ? 'failed' : 'fatal'
      const ref = (parse(body) as { readonly push_id?: string } | undefined)?.push_id
      return states.map((state) => ({ state, category, ref }) as const)
    }
    const categories = new Map<string, { category: 'successful' | 'failed' | 'fatal'; ref: string | undefined }>()
    if (status === 200) {
      for (const category of ['successful', 'failed', 'fatal'] as const)
        for (const entry of parse(body)?.[category] ?? [])
          categories.set(String(entry.id), { category, ref: entry.push_id })
    }
    return states.map((state) => ({
      state,
      ...(categories.get(state.id) ?? { category: 'fatal' as const, ref: undefined }),
    }))
  }
}

type BatchBody = Record<string, { readonly id: number | string; readonly push_id?: string }[]>

function parse(body: string): BatchBody | undefined {
  try {
    return JSON.parse(body) as BatchBody
  } catch {
    return undefined
  }
}
