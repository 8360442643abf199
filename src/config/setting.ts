// The types of settings: a leaf (one parsed text), a list, a group, or one of several variants.
// The whole configuration is one group: table.ts.

import type { Json } from '../runtime/json.ts'

/** One value. In YAML and in the environment it is a text; `parse` converts it. */
export interface Leaf<T> {
  readonly type: 'leaf'
  /** Completes the sentence "expected …". */
  readonly expected: string
  /** Undefined if the text is invalid. `base` is the folder to which relative paths refer. */
  readonly parse: (text: string, base: string) => T | undefined
  /** Formats the value as it is written in YAML; absent: the value itself. */
  write?(value: T): string
  readonly help: string
  /** The default, as it is written in YAML. */
  readonly default?: string
  readonly optional?: true
  /** Never printed or logged. */
  readonly secret?: true
  /** A key of this process's own API. */
  readonly ownApiKey?: true
  /** Whether tokens of ours are sent to the address, without a secret beside it in the configuration. */
  readonly sendsTokens?: true
  /** The path of a file that holds a secret. */
  readonly secretFile?: true
  /** An address that this process calls. */
  readonly outbound?: true
  /** Tells the user how to fix a missing or invalid value. */
  readonly remedy?: string
}

/** Any JSON, written as YAML: an unquoted 5 or true keeps its type, a quoted one is a text. It is printed, so it is no secret. */
export interface JsonSetting {
  readonly type: 'json'
  readonly help: string
  readonly optional?: true
  readonly remedy?: string
}

export interface List<Of extends Setting> {
  readonly type: 'list'
  readonly of: Of
  readonly help: string
  readonly optional?: true
  /** A single item may be written without a list. */
  readonly allowSingle?: true
  readonly minItems?: number
  readonly remedy?: string
}

export type Settings = Readonly<Record<string, Setting>>

export interface Group<Of extends Settings> {
  readonly type: 'group'
  readonly settings: Of
  readonly help: string
  readonly optional?: true
  readonly remedy?: string
}

/**
 * One of several alternatives: written as a word (`none`), with `provider:` (`{provider: recording, file: …}`), or as a setting
 * with the name of the variant (`{module: ./mine.ts}`). In the value, `is` is the name of the variant.
 */
export interface Variants<Of extends Readonly<Record<string, Settings>>> {
  readonly type: 'variants'
  readonly variants: Of
  readonly help: string
  readonly optional?: true
  readonly remedy?: string
}

export type Setting =
  | Leaf<unknown>
  | JsonSetting
  | List<Setting>
  | Group<Settings>
  | Variants<Readonly<Record<string, Settings>>>

type Required<S extends Settings> = { [K in keyof S]: S[K] extends { optional: true } ? never : K }[keyof S]
type Flat<T> = { readonly [K in keyof T]: T[K] }
type GroupValue<S extends Settings> = Flat<
  { [K in Required<S>]: ValueOf<S[K]> } & { [K in Exclude<keyof S, Required<S>>]?: ValueOf<S[K]> }
>

/** The type of a checked value. */
export type ValueOf<S> =
  S extends Leaf<infer T>
    ? T
    : S extends JsonSetting
      ? Json
      : S extends List<infer Of>
        ? readonly ValueOf<Of>[]
        : S extends Group<infer Of>
          ? GroupValue<Of>
          : S extends Variants<infer Of>
            ? { [K in keyof Of]: Flat<{ is: K } & GroupValue<Of[K]>> }[keyof Of]
            : never

export function json<O extends Omit<JsonSetting, 'type'>>(options: O): JsonSetting & O {
  return { type: 'json', ...options }
}
export function list<Of extends Setting, O extends Omit<List<Of>, 'type' | 'of'>>(of: Of, options: O): List<Of> & O {
  return { type: 'list', of, ...options }
}
export function group<Of extends Settings, O extends Omit<Group<Of>, 'type' | 'settings'>>(
  options: O,
  settings: Of,
): Group<Of> & O {
  return { type: 'group', settings, ...options }
}
export function variants<
  Of extends Readonly<Record<string, Settings>>,
  O extends Omit<Variants<Of>, 'type' | 'variants'>,
>(options: O, of: Of): Variants<Of> & O {
  return { type: 'variants', variants: of, ...options }
}

/** Whether this setting is a secret or contains one. */
export function holdsSecret(setting: Setting): boolean {
  switch (setting.type) {
    case 'leaf':
      return setting.secret === true
    case 'json':
      return false
    case 'list':
      return holdsSecret(setting.of)
    case 'group':
      return Object.values(setting.settings).some(holdsSecret)
    case 'variants':
      return Object.values(setting.variants).some((settings) => Object.values(settings).some(holdsSecret))
  }
}
