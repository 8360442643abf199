// Ordered rules from an answer to what it means. The first that fits decides. Pure.

import { shown } from '../../contract/shown.ts'

export type Meaning = 'successful' | 'failed' | 'fatal' | 'gone' | 'mismatch' | 'misconfigured'

export interface Condition {
  /** 200, '4xx', or several of them: any of these. */
  readonly status?: number | string | readonly (number | string)[]
  /** Where to look in the JSON answer (RFC 6901). What is not JSON has nothing anywhere. */
  readonly body_path?: string
  /** The value there, as text: '200' fits 200 and "200". */
  readonly equals?: string
  /** A regular expression that the value there fits, as text. */
  readonly matches?: string
  /** Something is there, neither null nor empty. */
  readonly exists?: boolean
  /** Nothing is there, or null, or something empty. */
  readonly absent?: boolean
}

export interface Rule {
  readonly when: Condition
  /**
   * gone: the provider no longer knows the user or the device. mismatch: the token is not one of this credential's.
   * misconfigured: our own settings or credentials are wrong, so sending pauses and no message is burned.
   */
  readonly means: Meaning
  /** For people: what it means and how to mend it. */
  readonly reason?: string
  /** Taken for a proof only after an accepted send since the start; until then it may be our own address that is wrong. */
  readonly proven?: true
}

/** What follows every list of rules: the meaning that statuses have by themselves. */
export const defaultRules: readonly Rule[] = [
  { when: { status: '2xx' }, means: 'successful' },
  { when: { status: [401, 402, 403, 407] }, means: 'misconfigured', reason: 'check the credentials and the account' },
  { when: { status: [408, 425, 429] }, means: 'fatal' },
  { when: { status: [404, 405] }, means: 'failed', reason: 'check the address', proven: true },
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
 * Which rule decides?
 *
 * @param json the body, undefined where it is not JSON
 * @example decide(rulesOf([{ when: { status: 200, body_path: '/id', absent: true }, means: 'failed' }]), 200, { id: '' }).rule.means // 'failed'
 */
export function decide(rules: readonly CompiledRule[], status: number, json: unknown): Decided {
  return rules.find(({ fits }) => fits(status, json)) as CompiledRule
}

export interface CompiledRule extends Decided {
  readonly fits: (status: number, json: unknown) => boolean
}

/** The given rules, then the default ones, ready to decide. */
export function rulesOf(rules: readonly Rule[]): readonly CompiledRule[] {
  return [...rules, ...defaultRules].map((rule) => ({ rule, name: nameOf(rule.when), fits: compile(rule.when) }))
}

function compile({ status, body_path, equals, matches, exists, absent }: Condition): CompiledRule['fits'] {
  const statuses = status === undefined ? undefined : [status].flat().map(String)
  const pattern = matches === undefined ? undefined : new RegExp(matches, 'u')
  return (answered, json) => {
    if (statuses && !statuses.some((one) => one === String(answered) || one === `${String(answered)[0]}xx`))
      return false
    if (body_path === undefined) return true
    const value = at(json, body_path)
    const text = textOf(value)
    if (equals !== undefined && text !== equals) return false
    if (pattern && (text === undefined || !pattern.test(text))) return false
    if (exists !== undefined && exists === isEmpty(value)) return false
    return absent === undefined || absent === isEmpty(value)
  }
}

/** The value at a JSON Pointer, undefined where there is none. */
export function at(json: unknown, pointer: string): unknown {
  let value = json
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

/** Long texts are not searched to their end: an expression may be slow. */
const mostSearched = 4_000

/** A value as a rule sees it: texts as they are, everything else as JSON. */
export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value.slice(0, mostSearched) : shown(value, mostSearched)
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** For evidence and logs. */
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

/** What is wrong with a rule, as words for its writer. */
export function faultOf({ when }: Rule): string | undefined {
  const { status, body_path, equals, matches, exists, absent } = when
  const wrong = status === undefined ? undefined : [status].flat().find((one) => !/^[1-5](\d\d|xx)$/.test(String(one)))
  if (wrong !== undefined) return `status: expected a number such as 404, or 4xx, found ${wrong}`
  if (body_path !== undefined && !/^(?:\/(?:[^~/]|~[01])*)+$/.test(body_path))
    return 'body_path: expected a JSON Pointer such as /id or /errors/0/code'
  const looks = [equals, matches, exists, absent].some((one) => one !== undefined)
  if (looks && body_path === undefined)
    return 'body_path is missing: it says where equals, matches, exists and absent look'
  if (!looks && body_path !== undefined) return 'body_path alone says nothing: add equals, matches, exists or absent'
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
