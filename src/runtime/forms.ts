// Value formats and their wording in errors, shared by the configuration file and the options of the library.

import { closestName } from './closest-name.ts'
import { ConfigError, type Problem } from './problem.ts'

export interface Form {
  /** Completes the sentence "expected …". */
  readonly expected: string
  readonly fits: (value: unknown) => boolean
  /** How to correct a missing or wrong value. */
  readonly remedy?: string
  /** Errors never repeat a secret, not even a wrong one. */
  readonly secret?: true
}

/** At least 16 characters, since short keys can be guessed. A rejected key is never repeated in the error. */
export const keyForm = {
  expected: 'at least 16 characters without spaces',
  fits: (value: unknown) => matches(value, /^[\x21-\x7e]{16,}$/),
  remedy: 'make one with: openssl rand -hex 24',
  secret: true,
} as const satisfies Form

/** Secrets for subscriber tokens. */
export const longKeyForm = {
  expected: 'at least 32 characters without spaces',
  fits: (value: unknown) => matches(value, /^[\x21-\x7e]{32,}$/),
  remedy: 'make one with: openssl rand -hex 32',
  secret: true,
} as const satisfies Form

/** A brand number from 0 to 2^63−1 (row 1), stored as a string of digits. */
export const brandForm: Form = {
  expected: 'the number of a brand',
  fits: (value) => matches(value, /^(0|[1-9]\d{0,18})$/) && BigInt(value as string) < 2n ** 63n,
}

export const textForm: Form = { expected: 'a text', fits: (value) => typeof value === 'string' && value !== '' }

/** An address whose every part is used: a user name, a password and a fragment would be dropped. */
export const urlForm: Form = {
  expected: 'an http or https address without user name, password and fragment, such as https://operator.example/api',
  fits: (value) => {
    if (typeof value !== 'string' || !URL.canParse(value) || value.includes('#')) return false
    const { protocol, username, password } = new URL(value)
    return /^https?:$/.test(protocol) && username === '' && password === ''
  },
}

export const originForm: Form = {
  expected: 'an origin, such as https://www.example.com',
  fits: (value) => typeof value === 'string' && URL.canParse(value) && new URL(value).origin === value,
}

/** Secret, since the URL may contain a password. */
export const storeForm: Form = {
  expected: 'sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE',
  fits: (value) => matches(value, /^sqlite:./) || (matches(value, /^postgres(ql)?:/) && URL.canParse(value as string)),
  secret: true,
}

export function wholeForm(from: number, to: number): Form {
  return {
    expected: `a whole number from ${from} to ${to}`,
    fits: (value) => Number.isSafeInteger(value) && (value as number) >= from && (value as number) <= to,
  }
}

/** A duration in milliseconds. */
export const millisecondsForm: Form = {
  expected: 'a time in milliseconds',
  fits: (value) => typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY,
}

export function wordForm(...words: readonly string[]): Form {
  return {
    expected: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
    fits: (value) => words.includes(value as string),
  }
}

const matches = (value: unknown, form: RegExp): boolean => typeof value === 'string' && form.test(value)

export interface OptionChecks {
  /** A required value. An empty string counts as missing, since an unset environment variable often results in one. */
  required(path: string, value: unknown, form: Form): void
  /** An optional value. */
  optional(path: string, value: unknown, form: Form): void
  /** A list with at least one item. */
  filled(path: string, list: readonly unknown[] | undefined, remedy?: string): void
  /** Options by name. Anything but an object is left to the other checks. */
  known(path: string, options: unknown, names: readonly string[]): void
  wrong(problem: Omit<Problem, 'where'>): void
}

/** The names of all options of a type: the compiler finds a name that is missing or too many. */
export const optionNames = <Options>(names: { readonly [Name in keyof Required<Options>]: true }): readonly string[] =>
  Object.keys(names)

/**
 * Checks the options of a function, each under its path.
 *
 * @throws ConfigError with all problems at once
 * @example checkOptions('createOperator', ({ required }) => required('keys[0].key', '', keyForm))
 * // createOperator  keys[0].key: missing; expected at least 16 characters without spaces
 * //     make one with: openssl rand -hex 24
 */
export function checkOptions(name: string, check: (checks: OptionChecks) => void): void {
  const problems: Problem[] = []
  const wrong: OptionChecks['wrong'] = (problem) => void problems.push({ where: name, ...problem })
  const optional: OptionChecks['optional'] = (path, value, { expected, fits, remedy, secret }) => {
    if (value === undefined || fits(value)) return
    const found = secret ? '' : `, found ${typeof value === 'string' ? JSON.stringify(value) : String(value)}`
    wrong({ path, description: `expected ${expected}${found}`, ...(remedy && { remedy }) })
  }
  const required: OptionChecks['required'] = (path, value, form) => {
    const { expected, remedy } = form
    if (value !== undefined && value !== null && value !== '') return optional(path, value, form)
    wrong({ path, description: `missing; expected ${expected}`, ...(remedy && { remedy }) })
  }
  const filled: OptionChecks['filled'] = (path, list, remedy) => {
    if (Array.isArray(list) && list.length > 0) return
    wrong({ path, description: 'missing; expected a list with at least 1 item', ...(remedy && { remedy }) })
  }
  const known: OptionChecks['known'] = (path, options, names) => {
    if (typeof options !== 'object' || options === null) return
    for (const name of Object.keys(options)) {
      if (names.includes(name)) continue
      const closest = closestName(name, names)
      const remedy = closest === undefined ? `the options are: ${names.join(', ')}` : `did you mean ${closest}?`
      wrong({ path: path === '' ? name : `${path}.${name}`, description: 'unknown option', remedy })
    }
  }
  check({ required, optional, filled, known, wrong })
  if (problems.length > 0) throw new ConfigError(problems)
}
