// The connections between both sides, in memory: the joint of operatorApi(). A fault happens to a request, to an answer, or in a proxy between.

import type { Pool } from 'undici'
import type { Model, PlatformAnswer } from './model.ts'
import type { Random } from './random.ts'
import type { FaultName, Faults } from './settings.ts'
import type { World } from './world.ts'

/** Answers requests in the operator's process. Undefined: there is no operator now. */
export type Reach = () => Serve | undefined
/** Never resolves if the operator is killed meanwhile; `onDeath` is called instead. */
export type Serve = (request: WireRequest, onDeath: () => void) => Promise<PlatformAnswer>

export interface WireRequest {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

export interface WireOptions {
  readonly world: World
  readonly random: Random
  readonly faults: Faults
  readonly model: Model
  readonly reach: Reach
  readonly fail: (error: unknown) => void
}

type Handler = NonNullable<Parameters<Pool['dispatch']>[1]>

const proxyAnswers: readonly [FaultName, number, number | undefined][] = [
  ['proxy 429', 429, 2],
  ['proxy 500', 500, undefined],
  ['proxy 502', 502, undefined],
  ['proxy 503', 503, 3],
  ['proxy 400', 400, undefined],
]

export function createWire({ world, random, faults, model, reach, fail }: WireOptions): Pool {
  const travelMs = (): number =>
    faults.fires('answer delayed') ? random.integer(50, 6_000) : 1 + random.fraction() * 9

  // Identifiers differ between two runs of a seed, also the beginning of one at the end of a cut answer.
  const trace = ({ status, body }: PlatformAnswer): string =>
    `${status} ${body.replaceAll(/"push_id":"[^"]*("|$)/g, '')}`

  function dispatch(request: WireRequest, handler: Handler): void {
    const platform = world.process
    const ids = idsOf(request.body)
    const controller = { abort: () => void end(), paused: false, reason: null, aborted: false, pause() {}, resume() {} }
    type Controller = Parameters<NonNullable<Handler['onResponseError']>>[0]
    const given = controller as unknown as Controller
    const later = (action: () => void): void => void world.schedule(travelMs(), action, platform ?? 'world')
    const serve = reach()
    if (!serve || faults.fires('no connection')) {
      world.note(`no connection for ${ids.join()}`)
      const error = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' })
      later(() => handler.onResponseError?.(given, error))
      return
    }
    const life = model.request(ids, now(), now() + (platform?.skewMs ?? 0))
    world.note(`request ${ids.join()}`)
    let ended = false
    const end = (): boolean => {
      if (ended) return false
      ended = true
      model.requestEnded(life)
      return true
    }
    const lose = (code: string): void =>
      later(() => {
        if (!end()) return
        world.note(`lost ${ids.join()} ${code}`)
        handler.onResponseError?.(given, Object.assign(new Error(code), { code }))
      })
    const deliver = (answer: PlatformAnswer): void =>
      later(() => {
        if (!end()) return
        world.note(`answer ${ids.join()} ${trace(answer)}`)
        model.answerArrived(ids, answer, now(), life)
        const wait = answer.retryAfterSeconds
        handler.onResponseStart?.(given, answer.status, wait === undefined ? {} : { 'retry-after': String(wait) }, '')
        handler.onResponseData?.(given, Buffer.from(answer.body))
        handler.onResponseEnd?.(given, {})
      })

    const arrive = (onAnswer: (answer: PlatformAnswer) => void): void =>
      void world.schedule(
        travelMs(),
        () => {
          const serveNow = reach()
          if (!serveNow) lose('ECONNRESET')
          else
            void serveNow(request, () => lose('ECONNRESET'))
              .then((answer) => {
                world.note(`answered ${ids.join()} ${trace(answer)}`)
                model.operatorAnswer(ids, answer)
                onAnswer(answer)
              })
              .catch(fail)
        },
        'world',
      )

    handler.onRequestStart?.(given, {})
    if (faults.fires('request lost')) return
    const proxy = proxyAnswers.find(([name]) => faults.fires(name))
    if (faults.fires('request reset')) lose('ECONNRESET')
    else if (proxy) deliver({ status: proxy[1], retryAfterSeconds: proxy[2], body: '{"error":"the proxy"}' })
    else {
      if (faults.fires('request doubled')) arrive(() => {})
      arrive((answer) => {
        if (faults.fires('answer lost')) return
        if (faults.fires('answer reset')) lose('ECONNRESET')
        else if (faults.fires('answer cut')) deliver(cut(answer))
        else if (faults.fires('answer names a stranger')) deliver(withStranger(answer))
        else deliver(faults.fires('answer partial') ? withoutOne(answer) : answer)
      })
    }
  }

  const now = (): number => Math.floor(world.now)
  const cut = (answer: PlatformAnswer): PlatformAnswer => ({
    ...answer,
    body: answer.body.slice(0, random.integer(0, answer.body.length - 1)),
  })
  const withStranger = (answer: PlatformAnswer): PlatformAnswer => ({
    ...answer,
    body: answer.body.replace(
      '],"failed":[',
      answer.body.includes('"successful":[]') ? '{"id":0}],"failed":[' : ',{"id":0}],"failed":[',
    ),
  })
  const withoutOne = (answer: PlatformAnswer): PlatformAnswer => ({
    ...answer,
    body: answer.body.replace(/\{"id":[^{}]*\},?/, '').replaceAll(',]', ']'),
  })

  return {
    dispatch: (request: WireRequest, handler: Handler) => void dispatch(request, handler),
    close: async () => {},
  } as unknown as Pool
}

/** The ids of a request: of one record, or of a batch. */
export function idsOf(body: string): string[] {
  const given = JSON.parse(String(body)) as Element | Element[]
  return [given].flat().map(({ activity }) => String(activity.id))
}

interface Element {
  readonly activity: { readonly id: number | string }
}
