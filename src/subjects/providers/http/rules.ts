// Ordered rules that map an answer to its meaning. The first rule that matches decides. Pure.

import { valueAt } from '../../../contract/pointer.ts'
import { shown } from '../../../contract/shown.ts'

export type Meaning = 'successful' | 'failed' | 'fatal' | 'gone' | 'mismatch' | 'misconfigured'

export interface Condition {
  /** A status such as 200, a class such as '4xx', or a list of these, of which one must match. */
  readonly status?: number | string | readonly (number | string)[]
  /** JSON Pointer (RFC 6901) to a value of the answer. An answer that is not JSON has no values. */
  readonly body_path?: string
  /** The value at body_path, compared as text: '200' matches 200 and "200". */
  readonly equals?: string
  /** A regular expression that the value at body_path matches, as text. */
  readonly matches?: string
  /** The value at body_path exists and is neither null nor empty. */
  readonly exists?: boolean
  /** The value at body_path does not exist, or is null or empty. */
  readonly absent?: boolean
}

export interface Rule {
  readonly when: Condition
  /**
   * gone: the provider no longer knows the user or the device. mismatch: the token does not belong to this credential.
   * misconfigured: our own settings or credentials are wrong, so sending is paused and no message is failed.
   */
  readonly means: Meaning
  /** An explanation for people, and how to fix the cause. */
  readonly reason?: string
  /** It may concern one user only. After an accepted send since the process started, sending is not paused. */
  readonly ofUser?: true
  /** Fails messages only after an accepted send since the process started. Before, our own URL may be wrong: they are fatal. */
  readonly proven?: true
}

const checkCredentials = 'check the credentials and the account'

/** The default rules: the meaning of each status. They follow every list of rules. */
export const defaultRules: readonly Rule[] = [
  { when: { status: '2xx' }, means: 'successful' },
  { when: { status: [401, 402, 403] }, means: 'misconfigured', reason: checkCredentials, ofUser: true },
  { when: { status: 407 }, means: 'misconfigured', reason: checkCredentials },
  { when: { status: [408, 425, 429] }, means: 'fatal' },
  { when: { status: [404, 405] }, means: 'failed', reason: 'check the URL', proven: true },
  { when: { status: '4xx' }, means: 'failed' },
  // 1xx, 3xx (redirects are never followed) and 5xx.
  { when: {}, means: 'fatal' },
]

export interface Decided {
  readonly rule: Rule
  /** '4xx', '200 /id absent' */
  readonly name: string
}

/**
 * Finds the first rule that matches an answer.
 *
 * @param json the body, undefined if it is not JSON
 * @example decide(rulesOf([{ when: { status: 200, body_path: '/id', absent: true }, means: 'failed' }]), 200, { id: '' }).rule.means // 'failed'
 */
export function decide(rules: readonly CompiledRule[], status: number, json: unknown): Decided {
  return rules.find(({ matches }) => matches(status, json)) as CompiledRule
}

export interface CompiledRule extends Decided {
  readonly matches: (status: number, json: unknown) => boolean
}

/** Compiles the given rules, followed by the default rules, of which the last one matches each answer. */
export function rulesOf(rules: readonly Rule[], defaults: readonly Rule[] = defaultRules): readonly CompiledRule[] {
  return [...rules, ...defaults].map((rule) => ({ rule, name: nameOf(rule.when), matches: compile(rule.when) }))
}

function compile({ status, body_path, equals, matches, exists, absent }: Condition): CompiledRule['matches'] {
  const statuses = status === undefined ? undefined : [status].flat().map(String)
  const pattern = matches === undefined ? undefined : new RegExp(matches, 'u')
  return (answered, json) => {
    if (statuses && !statuses.some((one) => one === String(answered) || one === `${String(answered)[0]}xx`))
      return false
    if (body_path === undefined) return true
    const value = valueAt(json, body_path)
    const text = textOf(value)
    if (equals !== undefined && text !== equals) return false
    if (pattern && (text === undefined || !pattern.test(text))) return false
    if (exists !== undefined && exists === isEmpty(value)) return false
    return absent === undefined || absent === isEmpty(value)
  }
}

/** Only the beginning of a long text is searched, because a regular expression may be slow. */
const mostSearched = 4_000

/** The text that a rule compares: a text itself, or another value as JSON. */
export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value.slice(0, mostSearched) : shown(value, mostSearched)
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** The name of a rule in evidence and logs. */
function nameOf({ status, body_path, equals, matches, exists, absent }: Condition): string {
  const words = [
    status === undefined ? '' : [status].flat().join(' or '),
    body_path ?? '',
    equals === undefined ? '' : `= ${equals}`,
    matches === undefined ? '' : `~ ${matches}`,
    exists === undefined ? '' : exists ? 'exists' : 'absent',
    absent === undefined ? '' : absent ? 'absent' : 'exists',
  ]
  return words.filter((word) => word !== '').join(' ') || 'any other answer'
}

/** Describes the first fault of a rule, or returns undefined. */
export function faultOf({ when }: Rule): string | undefined {
  const { status, body_path, equals, matches, exists, absent } = when
  const wrong = status === undefined ? undefined : [status].flat().find((one) => !/^[1-5](\d\d|xx)$/.test(String(one)))
  if (wrong !== undefined) return `status: expected a number such as 404, or 4xx, found ${wrong}`
  if (body_path !== undefined && !/^(?:\/(?:[^~/]|~[01])*)+$/.test(body_path))
    return 'body_path: expected a JSON Pointer such as /id or /errors/0/code'
  const testsBody = [equals, matches, exists, absent].some((one) => one !== undefined)
  if (testsBody && body_path === undefined)
    return 'body_path is missing: equals, matches, exists and absent test the value at body_path'
  if (!testsBody && body_path !== undefined)
    return 'body_path alone has no effect: add equals, matches, exists or absent'
  if (matches !== undefined && !isPattern(matches)) return `matches: ${matches} is not a regular expression`
  return undefined
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'u')
    return true
  } catch {
    return false
  }
}
