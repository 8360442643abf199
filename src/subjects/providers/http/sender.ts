// Sends one request to the provider and interprets its answer, in the same way for users, devices and delivery statuses.

import { createCaller } from '../../../base/http-client/caller.ts'
import type { Exchanged } from '../../../base/http-client/exchange.ts'
import { TokenError } from '../../../base/http-client/oauth2.ts'
import type { Check } from '../../../base/runtime/check.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { redactSecrets } from '../../../base/runtime/redact-secrets.ts'
import { retryAfterMs } from '../../../contract/retry-after.ts'
import type { SendContext } from '../provider.ts'
import type { DeviceAnswer } from '../push-service.ts'
import { bodyTemplate } from './body.ts'
import { checkSender } from './check.ts'
import { faultsOf } from './faults.ts'
import { type HttpOptions, resolveOptions, splitUrl } from './options.ts'
import { decide, type Rule, rulesOf } from './rules.ts'
import { signatureHeaders } from './standard-webhooks.ts'
import { type FindValue, headerTemplate, pathTemplate } from './template.ts'
import { type Mode, text } from './values.ts'
import { headTooLong, lostAnswer, noToken, readAnswer, tooLong, unaddressable } from './verdict.ts'

export interface Sender {
  readonly name: string
  readonly concurrency: number
  send(request: TemplateRequest, context: Pick<SendContext, 'deadline' | 'signal'>): Promise<DeviceAnswer>
  check(): Promise<readonly Check[]>
  close(): Promise<void>
}

/** The values of one request. */
export interface TemplateRequest {
  /** Of all placeholders but the secrets. */
  readonly values: FindValue
  readonly overrides?: Overrides | undefined
  readonly ref: string
  /** Identifies the request in its signature. Constant on retries. */
  readonly id: string
  /** Texts that must not appear in evidence and logs if an answer repeats them. */
  readonly hidden: readonly string[]
}

export type Overrides = Readonly<Record<string, unknown>>

/** A longer answer is a fault of the provider. */
const mostAnswerBytes = 256 * 1024
/** Limit for URL and headers together: Node and nginx accept no more. If its values exceed the limit, the message fails. */
const mostHeadChars = 8 * 1024

/**
 * @param defaults the rules that follow those of the options
 * @throws an error that lists all faults of the options
 */
export function createSender(options: HttpOptions, mode: Mode, defaults?: readonly Rule[]): Sender {
  const faults = faultsOf(options, mode)
  if (faults.length > 0) throw new Error(faults.map((f) => `${f.at}: ${f.description}\n    ${f.remedy}`).join('\n'))
  const all = resolveOptions(options)
  const { name, method, secrets, concurrency } = all
  const { origin, path } = splitUrl(all.url)
  const pathOf = pathTemplate(path)
  const headersOf = all.headers.map(({ name, value }) => [name.toLowerCase(), headerTemplate(value)] as const)
  const bodyOf = bodyTemplate(all.body, all.overrides)
  const rules = rulesOf(all.rules, defaults)
  const signingSecret = all.auth.kind === 'standard-webhooks' ? all.auth.secret : undefined
  const auth = all.auth.kind === 'none' || all.auth.kind === 'standard-webhooks' ? undefined : all.auth
  const { proxy, ca, clientCertificate, clientKey } = options
  const reached = { proxy, ca, clientCertificate, clientKey }
  const caller = createCaller({ url: origin, connections: concurrency, auth, ...reached })
  /** A send was accepted since the process started, so URL and credentials are right. */
  let proven = false

  return {
    name,
    concurrency,
    async send({ values, overrides, ref, id, hidden }, context) {
      const now = clock.now()
      const findValue: FindValue = (name) =>
        name.startsWith('secret.') ? text(secrets.get(name.slice('secret.'.length))) : values(name)
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
      const sent = body ?? ''
      if (signingSecret !== undefined)
        Object.assign(headers, signatureHeaders({ secret: signingSecret, id, body: sent, now }))
      const { deadline, signal } = context
      const answer: Exchanged = await caller.call({
        method,
        path,
        headers,
        body: sent,
        most: mostAnswerBytes,
        deadline,
        signal,
      })
      if ('lost' in answer)
        return answer.lost instanceof TokenError ? noToken(name, answer.lost) : lostAnswer(name, answer, context)
      if (answer.cut) return tooLong(name, mostAnswerBytes, answer.status)
      const { status } = answer
      const answered = answer.body.toString()
      const json = jsonOf(answered)
      const hide = [...secrets.values(), signingSecret ?? '', ...caller.auth.secrets(), ...hidden]
      const read = readAnswer({
        name,
        mode,
        decided: decide(rules, status, json),
        proven,
        status,
        json,
        text: answered,
        hide: (part) => redactSecrets(part, hide),
        retryAfterMs: retryAfterMs(answer.headers['retry-after'], clock.now()),
        idPath: all.id,
        ref,
      })
      if (read.category === 'successful') proven = true
      return read
    },
    check: () => checkSender(name, origin, caller),
    // Several brands may share the sender, and each of them closes it.
    close: caller.close,
  }
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
