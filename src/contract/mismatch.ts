// Compares a value with its schema, and describes the first difference for people: the member, its value, and a remedy.

import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { shown } from './shown.ts'

/** The JSON Schema keywords that the descriptions use. `title` names the expected value in words. */
interface Keywords {
  readonly title?: string
  readonly type?: string
  /** `{}`: the schema accepts no value. `title` then says why. */
  readonly not?: object
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Keywords[]
  readonly properties?: Readonly<Record<string, Keywords>>
  readonly items?: Keywords
  readonly examples?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly minProperties?: number
  /** A secret: its value is never shown. */
  readonly writeOnly?: boolean
}

/**
 * Makes the check of a schema. It is compiled when it is first used: a side has some hundred schemas, and a start uses few of them.
 *
 * @param whole the name of the value in an error about the value as a whole
 * @returns a function that returns undefined for a value of the schema, and one sentence for any other value
 * @example
 * const mismatch = createMismatch(Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 1_000 }) }), 'the query')
 * mismatch({ limit: 'x' }) // 'limit is "x": give a whole number from 1 to 1000'
 */
export function createMismatch(schema: TSchema, whole: string): (value: unknown) => string | undefined {
  let validator: ReturnType<typeof Compile> | undefined
  return (value) => {
    validator ??= Compile(schema)
    if (validator.Check(value)) return undefined
    const [error] = validator.Errors(value)
    if (error === undefined) throw new Error(`the schema refuses ${whole} without an error`)
    const path = error.instancePath
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    if (error.keyword === 'required') path.push(error.params.requiredProperties[0] as string)
    return describe(schema as Keywords, value, path, whole)
  }
}

function describe(schema: Keywords, value: unknown, path: readonly string[], whole: string): string {
  let name = ''
  let expected: Keywords = schema
  let found = value
  for (const part of path) {
    const { properties, items } = expected
    name = Array.isArray(found) ? `${name}[${part}]` : name === '' ? shortName(part) : `${name}.${part}`
    const member = properties && Object.hasOwn(properties, part) ? properties[part] : items
    if (member === undefined) return `${name} is not known here: use ${Object.keys(properties ?? {}).join(', ')}`
    expected = member
    found = (found as Record<string, unknown> | undefined)?.[part]
  }
  if (expected.not) return `${name} is ${expected.title}`
  return `${name || whole} is ${describeValue(found, expected)}: give ${describeExpected(expected)}`
}

/** The name of an unknown member comes from the caller, and may have any length. */
const shortName = (name: string): string => (/^[\w.-]{1,100}$/.test(name) ? name : shown(name))

function describeValue(value: unknown, { writeOnly, type, minProperties }: Keywords): string {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return minProperties === undefined ? 'an object' : 'an empty object'
  // A value in the place of an object may be one of its members, and so a secret.
  if (!writeOnly && type !== 'object') return shown(value)
  if (typeof value === 'string') return value === '' ? 'an empty string' : `a string of ${value.length} characters`
  return value === null ? 'null' : `a ${typeof value}`
}

/** @example describeExpected(Type.Integer({ minimum: 1, maximum: 9 })) // 'a whole number from 1 to 9' */
export function describeExpected(schema: Keywords): string {
  const { title, anyOf, type, examples } = schema
  const alternatives =
    schema.enum ?? ('const' in schema ? [schema.const] : anyOf?.filter((each) => each.type !== 'null'))
  if (alternatives && title === undefined)
    return joinOr(alternatives.map((each) => (anyOf ? describeExpected(each as Keywords) : String(each))))
  const example = examples === undefined ? '' : `, such as ${JSON.stringify(examples[0])}`
  return `${title ?? `${nouns[type ?? ''] ?? 'another value'}${describeRange(schema)}`}${example}`
}

const nouns: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
}

function describeRange({ minimum, maximum, minLength, maxLength, maxItems, ...object }: Keywords): string {
  if (object.minProperties !== undefined) return ` with at least one of ${joinOr(Object.keys(object.properties ?? {}))}`
  if (maxItems !== undefined) return ` of at most ${maxItems}`
  if (maxLength !== undefined) return ` of ${minLength ?? 0} to ${maxLength} characters`
  if (minimum === undefined) return ''
  return maximum === undefined ? ` of ${minimum} or more` : ` from ${minimum} to ${maximum}`
}

function joinOr(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join() : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`
}
