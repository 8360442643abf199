// One request to the provider and what its answer means: the same for users and for devices.

import { Pool } from 'undici'
import { retryAfterMs } from '../../contract/retry-after.ts'
import { redactSecrets } from '../../runtime/redact-secrets.ts'
import { type Exchanged, type ExchangeRequest, exchange } from '../exchange.ts'
import type { Check, SendContext } from '../provider.ts'
import type { DeviceAnswer } from '../push-service.ts'
import { createAuth } from './auth.ts'
import { bodyTemplate } from './body.ts'
import { checkSender } from './check.ts'
import { faultsOf } from './faults.ts'
import { TokenError } from './oauth2.ts'
import { type HttpOptions, partsOf, resolve } from './options.ts'
import { decide, rulesOf } from './rules.ts'
import { headerTemplate, pathTemplate } from './template.ts'
import { type Delivery, type Mode, valuesOf } from './values.ts'
import { headTooLong, lostAnswer, noToken, readAnswer, tooLong, unaddressable } from './verdict.ts'

export interface Sender {
  readonly name: string
  readonly concurrency: number
  send(delivery: Delivery, overrides: Overrides | undefined, context: SendContext): Promise<DeviceAnswer>
  check(): Promise<readonly Check[]>
  close(): Promise<void>
}

export type Overrides = Readonly<Record<string, unknown>>

/** Longer answers are a mistake. */
const mostAnswerBytes = 256 * 1024
/** Of address and headers together; Node and nginx take no more. What a message makes longer is its own fault. */
const mostHeadChars = 8 * 1024
const longestTimer = 2 ** 31 - 1

/** @throws an error that names everything that is wrong with the options */
export function createSender(options: HttpOptions, mode: Mode): Sender {
  const faults = faultsOf(options, mode)
  if (faults.length > 0) throw new Error(faults.map((f) => `${f.at}: ${f.what}\n    ${f.remedy}`).join('\n'))
  const all = resolve(options)
  const { name, secrets, concurrency } = all
  const { origin, path } = partsOf(all.url)
  const pathOf = pathTemplate(path)
  const headersOf = all.headers.map(({ name, value }) => [name.toLowerCase(), headerTemplate(value)] as const)
  const bodyOf = bodyTemplate(all.body, all.overrides)
  const rules = rulesOf(all.rules)
  const auth = createAuth(all.auth)
  const pool = new Pool(origin, {
    connections: concurrency,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(all.ca !== undefined && { connect: { ca: all.ca } }),
  })
  /** An accepted send since the start: address and credentials are right. */
  let proven = false

  /** Signed or with a token, and with another token once where the provider refuses the first. */
  async function post(request: Omit<ExchangeRequest, 'most'>, id: string): Promise<Exchanged> {
    for (let tries = 1; ; tries++) {
      const signing = auth.headers({ id, body: request.body.toString(), now: Date.now() })
      const said = await abortable(signing, request.signal)
      const headers = { ...request.headers, ...said }
      const answer = await exchange(pool, { ...request, headers, most: mostAnswerBytes })
      if (tries > 1 || 'lost' in answer || answer.status !== 401 || !auth.refused(said)) return answer
    }
  }

  return {
    name,
    concurrency,
    async send(delivery, overrides, context) {
      const now = Date.now()
      const look = valuesOf(delivery, secrets, now)
      const path = pathOf(look)
      if (path === undefined) return unaddressable(name)
      const body = bodyOf(look, overrides)
      const headers: Record<string, string> = { accept: 'application/json' }
      if (body !== undefined) headers['content-type'] = 'application/json'
      for (const [header, render] of headersOf) headers[header] = render(look)
      const written = Object.entries(headers).reduce(
        (sum, [header, value]) => sum + header.length + value.length,
        path.length,
      )
      if (written > mostHeadChars) return headTooLong(name, written, mostHeadChars)
      // Not every caller's signal aborts at the deadline.
      const ms = Math.min(longestTimer, Math.max(0, context.deadline - now))
      const signal = AbortSignal.any([context.signal, AbortSignal.timeout(ms)])
      let answer: Exchanged
      try {
        answer = await post({ path, headers, body: Buffer.from(body ?? ''), signal }, delivery.deliveryId)
      } catch (error) {
        if (error instanceof TokenError) return noToken(name, error)
        answer = { lost: error as Error, written: false }
      }
      if ('lost' in answer) return lostAnswer(name, answer, context)
      if (answer.cut) return tooLong(name, mostAnswerBytes, answer.status)
      const { status } = answer
      const text = answer.body.toString()
      const json = jsonOf(text)
      const hidden = [...secrets.values(), ...auth.secrets(), ...privateOf(delivery)]
      const read = readAnswer({
        name,
        mode,
        decided: decide(rules, status, json),
        proven,
        status,
        json,
        text,
        hide: (said) => redactSecrets(said, hidden),
        retryAfterMs: retryAfterMs(answer.headers['retry-after'], Date.now()),
        idPath: all.id,
        ref: delivery.ref,
      })
      if (read.category === 'successful') proven = true
      return read
    },
    check: () => checkSender({ name, origin, auth, ...(all.ca !== undefined && { ca: all.ca }) }),
    close: async () => {
      await auth.close()
      // Several brands may share it, and each closes it.
      if (!pool.closed && !pool.destroyed) await pool.close()
    },
  }
}

/** What an answer may repeat and must not get into evidence and logs: the token, and what only its reader should read. */
function privateOf({ token = '', userId, content }: Delivery): readonly string[] {
  // Short ids are parts of other numbers, too.
  const { title = '', body = '', data = '' } = content
  return [token, title, body, data, userId.length >= 8 ? userId : '']
}

/** Numbers that a double cannot hold become texts, so that an identifier keeps its digits. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text, exact as (this: unknown, key: string, value: unknown) => unknown)
  } catch {
    return undefined
  }
}

function exact(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value) ? source : value
}

/** Rejects as soon as the signal aborts. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
