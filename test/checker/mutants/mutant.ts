import {
  type Answer,
  type Handler,
  json,
  key,
  type Mutation,
  type Request,
  type Value,
  type Wrap,
  write,
} from '../plain-operator.ts'

export type EndpointKind = 'single' | 'batch' | 'reconciliation'

export interface Mutant {
  /** The fault, as a developer would make it. */
  readonly fault: string
  /** The check that finds it. */
  readonly check: string
  /** Other checks that the fault also violates. All other checks must pass. */
  readonly also?: readonly string[]
  /** The fault needs both channels; default: push and reconciliation are checked. */
  readonly both?: true
  /** The fault shows only at this kind of endpoint. Checks that use no such endpoint are left out. */
  readonly at?: EndpointKind
  /** The checks to run, if all would take too long; default: all. */
  readonly only?: readonly string[]
  readonly pace?: { readonly slow: number }
  /** The fault shows while a message is being delivered. A delivery takes longer than a busy machine delays an event. */
  readonly inFlight?: true
  /** Called for each run, so that mutants may have state. */
  readonly mutate: () => Mutation
}

export const isSingle = ({ path }: Request): boolean => path.endsWith('/single')
export const isBatch = ({ path }: Request): boolean => path.endsWith('/batch')
export const isList = ({ path }: Request): boolean => path === '/reconciliation'
const hasKey = ({ headers }: Request): boolean => headers['x-api-key'] === key

/** Answers some requests that have the right key in another way. `answer` returns undefined to pass a request on. */
export function before(
  applies: (request: Request) => boolean,
  answer: (request: Request) => Answer | undefined | Promise<Answer | undefined>,
): Mutation {
  const wrap: Wrap = (next) => async (request) =>
    (request.method === 'POST' && hasKey(request) && applies(request) ? await answer(request) : undefined) ??
    next(request)
  return { wrap }
}

/** Changes the answers to some requests that have the right key. */
export function after(
  applies: (request: Request, answer: Answer) => boolean,
  change: (answer: Answer, request: Request) => Answer | Promise<Answer>,
): Mutation {
  const wrap: Wrap = (next) => async (request) => {
    const answer = await next(request)
    return request.method === 'POST' && hasKey(request) && applies(request, answer) ? change(answer, request) : answer
  }
  return { wrap }
}

export const onSuccess =
  (applies: (request: Request) => boolean) =>
  (request: Request, { status }: Answer): boolean =>
    applies(request) && status === 200

export type Items = Record<'successful' | 'failed' | 'fatal', Value[]>

/** Changes the items in the answers to batches that are not empty. */
export function changeItems(change: (items: Items, request: Request) => unknown): Mutation {
  const wrap: Wrap = (next, rules) => async (request) => {
    const answer = await next(request)
    if (!isBatch(request) || answer.status !== 200 || request.text === '[]') return answer
    return json(200, change(rules.parse(answer.body.join('')), request))
  }
  return { wrap }
}

/** Changes the list of a field. */
export function changeList(field: string, change: (list: Value) => unknown): Mutation {
  return after(
    (request, { status }) => isList(request) && status === 200 && request.text === write({ field }),
    (answer) => json(200, change(JSON.parse(answer.body.join('')))),
  )
}

/** A handler that counts the requests for which `counts` is true and that are not answered yet. */
export function whileRunning(
  counts: (request: Request) => boolean,
  decide: (request: Request, running: readonly Request[]) => Answer | undefined,
): Mutation {
  const running: Request[] = []
  const wrap: Wrap =
    (next): Handler =>
    async (request) => {
      if (!counts(request)) return next(request)
      const decided = decide(request, running)
      if (decided) return decided
      running.push(request)
      try {
        return await next(request)
      } finally {
        running.splice(running.indexOf(request), 1)
      }
    }
  return { wrap }
}
