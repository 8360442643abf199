// Converts the answer of a provider to an outcome of the interface. Pure.

import type { Exchanged } from '../../../base/http-client/exchange.ts'
import type { TokenError } from '../../../base/http-client/oauth2.ts'
import { clock } from '../../../base/runtime/clock.ts'
import type { Evidence, Failed, Fatal, Reason } from '../../../contract/outcome.ts'
import { valueAt } from '../../../contract/pointer.ts'
import { shortened } from '../../../contract/storable.ts'
import { messageOf } from '../lost.ts'
import type { DeviceAnswer } from '../push-service.ts'
import { type Decided, textOf } from './rules.ts'
import type { Mode } from './values.ts'

export interface Answered {
  readonly name: string
  readonly mode: Mode
  readonly decided: Decided
  /** The provider has accepted a send since the process started. */
  readonly proven: boolean
  readonly status: number
  readonly json: unknown
  /** The text of the body. */
  readonly text: string
  /** Removes secrets and personal data from the provider's text. */
  readonly hide: (text: string) => string
  readonly retryAfterMs: number | undefined
  readonly idPath: string | undefined
  readonly ref: string
}

export function readAnswer(answered: Answered): DeviceAnswer {
  const { name, mode, decided, proven, status, json, text, hide, idPath, ref } = answered
  const { rule } = decided
  const evidence: Evidence = { rule: `${name} ${status} (${decided.name})`, answer: shortened(hide(text)) }
  const message = errorIn(json)
  const shown = message && shortened(hide(message), 200)
  const error = shortened(
    `${name} answered ${status}${shown === undefined ? '' : `: ${shown}`}${rule.reason === undefined ? '' : `; ${rule.reason}`}`,
  )
  switch (rule.means) {
    case 'successful': {
      const id = idPath === undefined ? undefined : textOf(valueAt(json, idPath))
      return { ...evidence, category: 'successful', ref, ...(id !== undefined && { providerId: shortened(id, 200) }) }
    }
    case 'failed':
      if (rule.proven && !proven) return fatal('misconfigured', 'message', error, evidence, answered)
      return failed(status === 413 ? 'too_large' : 'rejected', error, evidence)
    case 'gone':
      return mode === 'user'
        ? failed('no_device', error, evidence)
        : { ...failed('rejected', error, evidence), token: 'gone' }
    case 'mismatch':
      return mode === 'user'
        ? failed('rejected', error, evidence)
        : { ...failed('rejected', error, evidence), token: 'mismatch' }
    case 'misconfigured':
      if (!rule.ofUser) return fatal('misconfigured', 'provider', error, evidence, answered)
      return {
        ...fatal('misconfigured', proven ? 'message' : 'provider', error, evidence, answered),
        ...(mode === 'device' && { concerns: 'counterpart' }),
      }
    case 'fatal':
      return fatal(reasonOf(status), blameOf(status), error, evidence, answered)
    default:
      return rule.means satisfies never
  }
}

/** The outcome if no answer or only a part of it arrived. */
export function lostAnswer(
  name: string,
  { lost, written }: Extract<Exchanged, { lost: Error }>,
  { deadline }: { readonly deadline: number },
): Fatal {
  const late = clock.now() >= deadline
  return {
    category: 'fatal',
    reason: late ? 'timeout' : 'unavailable',
    blame: 'provider',
    rule: `${name}: ${written ? 'answer lost' : 'no connection'}`,
    error: shortened(`${name}: ${late ? 'no answer in time' : messageOf(lost)}`),
    ...(written && { uncertain: true }),
  }
}

export function tooLong(name: string, most: number, status: number): Fatal {
  return {
    category: 'fatal',
    reason: 'nonsense',
    blame: 'provider',
    rule: `${name} ${status} (unreadable)`,
    error: `${name} answered ${status} with more than ${most} bytes`,
    ...(status >= 200 && status < 300 && { uncertain: true }),
  }
}

export function noToken(name: string, { message, refused }: TokenError): Fatal {
  return {
    category: 'fatal',
    reason: refused ? 'misconfigured' : 'unavailable',
    blame: 'provider',
    rule: `${name}: no access token`,
    error: shortened(`${name}: ${message}`),
  }
}

/** The outcome if a value would have changed the path of the URL. */
export function unaddressable(name: string): Failed {
  return {
    category: 'failed',
    reason: 'invalid',
    rule: `${name}: not addressable`,
    error: `${name}: a value of this message is empty, "." or ".." and cannot be a segment of the URL's path`,
  }
}

/** The outcome if a value would have made the URL or a header longer than providers accept. */
export function headTooLong(name: string, chars: number, most: number): Failed {
  return {
    category: 'failed',
    reason: 'too_large',
    rule: `${name}: address or headers too long`,
    error: `${name}: URL and headers have ${chars} characters, and the maximum is ${most}; shorten the texts, or use them in the body only`,
  }
}

function failed(reason: Reason, error: string, evidence: Evidence): Failed {
  return { ...evidence, category: 'failed', reason, error }
}

function fatal(
  reason: Reason,
  blame: Fatal['blame'],
  error: string,
  evidence: Evidence,
  { retryAfterMs }: Answered,
): Fatal {
  return { ...evidence, category: 'fatal', reason, blame, error, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

function reasonOf(status: number): Reason {
  if (status === 429) return 'rate_limited'
  if (status === 503) return 'overloaded'
  return status === 408 || status === 504 ? 'timeout' : 'unavailable'
}

/** The provider is to blame for statuses that affect all messages. Any other fatal status may be the fault of one message. */
function blameOf(status: number): Fatal['blame'] {
  return status === 429 || status === 408 || status > 500 || (status >= 300 && status < 400) ? 'provider' : 'message'
}

/** Members that contain an error message, the most telling ones first. */
const errorMembers = [
  'message',
  'error',
  'error_description',
  'description',
  'detail',
  'reason',
  'title',
  'msg',
  'errors',
]
/** An answer may be deep and have thousands of values. */
const deepest = 4
const mostValues = 10

/** Finds the provider's error message, wherever it is: `{"errors":["…"]}`, `{"data":{"status":"error","message":"…"}}`. */
function errorIn(value: unknown, depth = deepest): string | undefined {
  if (typeof value !== 'object' || value === null || depth === 0) return undefined
  const named = errorMembers.flatMap((member) => (Object.hasOwn(value, member) ? (value as Fields)[member] : []))
  const text = named.find((each): each is string => typeof each === 'string' && each !== '')
  if (text !== undefined) return text
  for (const inner of [...named, ...Object.values(value)].slice(0, mostValues)) {
    const found = errorIn(inner, depth - 1)
    if (found !== undefined) return found
  }
  return undefined
}

type Fields = Readonly<Record<string, unknown>>
