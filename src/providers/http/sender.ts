// Sends one request to the provider and interprets its answer, in the same way for users and for devices.

import { retryAfterMs } from '../../contract/retry-after.ts'
import type { Check } from '../../runtime/check.ts'
import { clock } from '../../runtime/clock.ts'
import { openPool } from '../../runtime/http1.ts'
import { redactSecrets } from '../../runtime/redact-secrets.ts'
import { type Exchanged, type ExchangeRequest, exchange } from '../exchange.ts'
import type { SendContext } from '../provider.ts'
import type { DeviceAnswer } from '../push-service.ts'
import { createAuth } from './auth.ts'
import { bodyTemplate } from './body.ts'
import { checkSender } from './check.ts'
import { faultsOf } from './faults.ts'
import { TokenError } from './oauth2.ts'
import { type HttpOptions, resolveOptions, splitUrl } from './options.ts'
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

/** A longer answer is a fault of the provider. */
const mostAnswerBytes = 256 * 1024
/** Limit for URL and headers together: Node and nginx accept no more. If its values exceed the limit, the message fails. */
const mostHeadChars = 8 * 1024
const longestTimerMs = 2 ** 31 - 1

/** @throws an error that lists all faults of the options */
export function createSender(options: HttpOptions, mode: Mode): Sender {
  const faults = faultsOf(options, mode)
  if (faults.length > 0) throw new Error(faults.map((f) => `${f.at}: ${f.description}\n    ${f.remedy}`).join('\n'))
  const all = resolveOptions(options)
  const { name, secrets, concurrency } = all
  const { origin, path } = splitUrl(all.url)
  const pathOf = pathTemplate(path)
  const headersOf = all.headers.map(({ name, value }) => [name.toLowerCase(), headerTemplate(value)] as const)
  const bodyOf = bodyTemplate(all.body, all.overrides)
  const rules = rulesOf(all.rules)
  const auth = createAuth(all.auth)
  const pool = openPool(origin, {
    connections: concurrency,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(all.ca !== undefined && { connect: { ca: all.ca } }),
  })
  /** A send was accepted since the process started, so URL and credentials are right. */
  let proven = false

  /** POSTs with authentication. If the provider refuses the token, the request is sent once more with a new one. */
  async function post(request: Omit<ExchangeRequest, 'most'>, id: string): Promise<Exchanged> {
    for (let tries = 1; ; tries++) {
      const signing = auth.headers({ id, body: request.body.toString(), now: clock.now() })
      const authHeaders = await abortable(signing, request.signal)
      const headers = { ...request.headers, ...authHeaders }
      const answer = await exchange(pool, { ...request, headers, most: mostAnswerBytes })
      if (tries > 1 || 'lost' in answer || answer.status !== 401 || !auth.onRefused(authHeaders)) return answer
    }
  }

  return {
    name,
    concurrency,
    async send(delivery, overrides, context) {
      const now = clock.now()
      const findValue = valuesOf(delivery, secrets, now)
      const path = pathOf(findValue)
      if (path === undefined) return unaddressable(name)
      const body = bodyOf(findValue, overrides)
      const headers: Record<string, string> = { accept: 'application/json' }
      if (body !== undefined) headers['content-type'] = 'application/json'
      for (const [header, render] of headersOf) headers[header] = render(findValue)
      const chars = Object.entries(headers).reduce(
        (sum, [header, value]) => sum + header.length + value.length,
        path.length,
      )
      if (chars > mostHeadChars) return headTooLong(name, chars, mostHeadChars)
      // Some callers have a signal that does not abort at the deadline.
      const ms = Math.min(longestTimerMs, Math.max(0, context.deadline - now))
      const signal = AbortSignal.any([context.signal, clock.timeout(ms)])
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
        hide: (answered) => redactSecrets(answered, hidden),
        retryAfterMs: retryAfterMs(answer.headers['retry-after'], clock.now()),
        idPath: all.id,
        ref: delivery.ref,
      })
      if (read.category === 'successful') proven = true
      return read
    },
    check: () => checkSender({ name, origin, auth, ...(all.ca !== undefined && { ca: all.ca }) }),
    close: async () => {
      await auth.close()
      // Several brands may share the sender, and each of them closes it.
      if (!pool.closed && !pool.destroyed) await pool.close()
    },
  }
}

/** Texts of a request that must not appear in evidence and logs if an answer repeats them: token, content and user id. */
function privateOf({ token = '', userId, content }: Delivery): readonly string[] {
  // A short id could be a part of other numbers.
  const { title = '', body = '', data = '' } = content
  return [token, title, body, data, userId.length >= 8 ? userId : '']
}

/** Parses JSON. Integers beyond the safe range become texts, so that an identifier keeps its digits. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text, keepDigits as (this: unknown, key: string, value: unknown) => unknown)
  } catch {
    return undefined
  }
}

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
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
