// Checks the options of the library by the settings of the configuration file: the same names, limits and words.

import { maskAddress } from './address.ts'
import { closestName } from './closest-name.ts'
import { ConfigError, type Fault, type Problem } from './problem.ts'
import { type Leaf, optionName, type Setting, type Settings } from './setting.ts'

/** An option has the value of a setting, or a value that no file can have, such as a function. */
export type Option = Setting | OptionCheck
type OptionCheck = (value: unknown, path: string, checks: OptionChecks) => unknown

/** Exported, because the declarations of the package name it. */
export interface OptionChecks {
  check(option: Option, value: unknown, path: string): void
  /** @param isShape whether the value lacks the members that other checks read */
  wrong(fault: Fault, isShape?: true): void
}

/** One option for each name of the type, so that the compiler finds a name that is missing or too many. */
export type OptionsOf<Options> = { readonly [Name in keyof Required<Options>]: Option }

/**
 * Checks the options of a function.
 *
 * @param contradictions finds options that contradict each other. It is called if all lists and objects are such.
 * @throws ConfigError with all problems at once
 * @example checkOptions('createOperator', { keys: [{ key: '' }] }, { keys })
 * // createOperator  keys[0].key: missing; expected at least 16 characters without spaces
 * //     make one with: openssl rand -hex 24
 */
export function checkOptions<Options extends object>(
  name: string,
  options: Options,
  known: Readonly<Record<string, Option>>,
  contradictions?: (options: Options) => readonly Fault[],
): void {
  const problems: Problem[] = []
  let hasShape = true
  const checks: OptionChecks = {
    wrong(fault, isShape) {
      problems.push({ where: name, ...fault })
      if (isShape) hasShape = false
    },
    check(option, value, path) {
      if (typeof option === 'function') option(value, path, checks)
      else if (option.type === 'leaf') checkLeaf(option, value, path, checks)
      else if (value !== undefined) checkParts(option, value, path, checks)
      else if (option.type === 'list' && option.minItems && !option.optional) checkParts(option, [], path, checks)
    },
  }
  object(known)(options, '', checks)
  if (hasShape && contradictions) for (const fault of contradictions(options)) checks.wrong(fault)
  if (problems.length > 0) throw new ConfigError(problems)
}

/** An empty text counts as missing, since an unset environment variable often results in one. */
function checkLeaf(leaf: Leaf<unknown>, value: unknown, path: string, { wrong }: OptionChecks): void {
  const isRequired = leaf.default === undefined && !leaf.optional
  if (value === undefined && !isRequired) return
  const { fits = (value: unknown) => typeof value === 'string' && leaf.parse(value, '/') !== undefined } =
    leaf.asOption ?? {}
  if (fits(value)) return
  // `brands: [1]`: the number is right, and its type is not.
  const asText = typeof value === 'number' && !leaf.asOption?.fits ? ' as a text' : ''
  const expected = `expected ${leaf.asOption?.expected ?? leaf.expected}${asText}`
  const isMissing = isRequired && (value === undefined || value === null || value === '')
  const description = isMissing ? `missing; ${expected}` : `${expected}${leaf.secret ? '' : `, found ${shown(value)}`}`
  wrong({ path, description, ...(leaf.remedy && { remedy: leaf.remedy }) })
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(maskAddress(value))
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return 'a list'
  return value instanceof Promise ? 'a promise: await it' : 'an object'
}

const unexpected = (path: string, expected: string, value: unknown): Fault => ({
  path,
  description: value === undefined ? `missing; expected ${expected}` : `expected ${expected}, found ${shown(value)}`,
})

function checkParts(
  setting: Exclude<Setting, Leaf<unknown>>,
  value: unknown,
  path: string,
  checks: OptionChecks,
): unknown {
  switch (setting.type) {
    case 'json':
      return undefined
    case 'list':
      return list(setting.of, setting)(setting.allowSingle && typeof value === 'string' ? [value] : value, path, checks)
    case 'group':
      return object(byOption(setting.settings))(value, path, checks)
    case 'variants': {
      const { kind } = Object(value) as { kind?: unknown }
      const settings = setting.variants[String(kind)]
      if (settings) return object({ kind: anything, ...byOption(settings) })(value, path, checks)
      const expected = `expected ${Object.keys(setting.variants).join(', ')}`
      return checks.wrong({ path: `${path}.kind`, description: `${expected}, found ${shown(kind)}` })
    }
  }
}

/** The settings by the names of their options. */
export const byOption = (settings: Settings): Readonly<Record<string, Setting>> =>
  Object.fromEntries(Object.entries(settings).map(([name, setting]) => [optionName(name, setting), setting]))

/** Options by name. A misspelt option would be ignored, so it is refused. */
export function object(known: Readonly<Record<string, Option>>): OptionCheck {
  return (value, path, { check, wrong }) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return wrong(unexpected(path, 'options by name', value), true)
    const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
    const names = Object.keys(known)
    for (const name of Object.keys(value).filter((name) => !names.includes(name))) {
      // The unit at the end of a name is forgotten more easily than misspelt.
      const closest =
        closestName(name, names) ?? names.find((each) => closestName(name, [each.replace(/Ms$|Bytes$/, '')]))
      const remedy = closest === undefined ? `the options are: ${names.join(', ')}` : `did you mean ${closest}?`
      wrong({ path: at(name), description: 'unknown option', remedy })
    }
    for (const [name, option] of Object.entries(known)) check(option, value[name as keyof typeof value], at(name))
  }
}

export function list(of: Option, { minItems = 0, remedy }: { minItems?: number; remedy?: string } = {}): OptionCheck {
  return (value, path, { check, wrong }) => {
    if (!Array.isArray(value)) return wrong(unexpected(path, 'a list', value), true)
    const expected = `missing; expected a list with at least ${minItems} item${minItems === 1 ? '' : 's'}`
    if (value.length < minItems) wrong({ path, description: expected, ...(remedy && { remedy }) })
    for (const [i, item] of value.entries()) check(of, item ?? null, `${path}[${i}]`)
  }
}

export const anything: OptionCheck = () => {}

export const optional =
  (option: Option): OptionCheck =>
  (value, path, { check }) =>
    value === undefined ? undefined : check(option, value, path)

/** Words that stand for a value, such as 'none', or the value. */
export const orWord =
  (word: string, option: Option): OptionCheck =>
  (value, path, { check }) =>
    value === word ? undefined : check(option, value, path)

/** A setting without its default. */
export const required = (setting: Leaf<unknown>): Setting => {
  const { default: _default, optional: _optional, ...rest } = setting
  return rest
}

/** An object with these functions, or a function if there are none. */
export function custom(expected: string, ...methods: readonly string[]): OptionCheck {
  return (value, path, { wrong }) => {
    if (!hasFunctions(value, methods)) wrong(unexpected(path, expected, value))
  }
}

/**
 * An object with these functions, whose other members are checked too.
 *
 * @param faultsOf the missing and invalid members, each with the expected one
 */
export function component<Of>(
  expected: string,
  methods: readonly string[],
  faultsOf: (value: Of) => readonly (readonly [member: string, expected: string] | false)[],
): OptionCheck {
  return (value, path, { wrong }) => {
    if (!hasFunctions(value, methods)) return wrong(unexpected(path, expected, value))
    for (const fault of faultsOf(value as Of)) if (fault) wrong({ path: `${path}.${fault[0]}`, description: fault[1] })
  }
}

function hasFunctions(value: unknown, methods: readonly string[]): boolean {
  if (methods.length === 0) return typeof value === 'function'
  return methods.every((name) => typeof Object(value)[name] === 'function')
}
