// What a setting can be: a leaf (one text, parsed by its kind), a list, a group, or one of several variants.
// The whole configuration is one group of these: table.ts.

import type { Json } from '../runtime/json.ts'

/** One value. In YAML and in the environment it is a text; its kind decides what that text means. */
export interface Leaf<T> {
  readonly type: 'leaf'
  /** Completes the sentence "expected …". */
  readonly expected: string
  /** Undefined: not such a text. `base` is the folder from which relative paths count. */
  readonly parse: (text: string, base: string) => T | undefined
  /** The value as a person would write it; absent: as it is. */
  write?(value: T): string
  readonly says: string
  /** As a person would write it. */
  readonly default?: string
  readonly optional?: true
  /** Never printed or logged. */
  readonly secret?: true
  /** A secret that opens this process's own API. */
  readonly opensUs?: true
  /** The path of a file that holds a secret. */
  readonly secretFile?: true
  /** An address that this process calls. */
  readonly called?: true
  /** How to put right what is missing or wrong. */
  readonly remedy?: string
}

/** Any JSON, written as YAML: a plain 5 or true is a number or a yes, a quoted one is a text. Printed as it is, so never a secret. */
export interface JsonSetting {
  readonly type: 'json'
  readonly says: string
  readonly optional?: true
  readonly remedy?: string
}

export interface List<Of extends Setting> {
  readonly type: 'list'
  readonly of: Of
  readonly says: string
  readonly optional?: true
  /** One item may be written without the list around it. */
  readonly orOne?: true
  /** Fewest items. */
  readonly least?: number
  readonly remedy?: string
}

export type Settings = Readonly<Record<string, Setting>>

export interface Group<Of extends Settings> {
  readonly type: 'group'
  readonly settings: Of
  readonly says: string
  readonly optional?: true
  readonly remedy?: string
}

/**
 * One of several things: written as a word (`none`), by a `provider:` of that name (`{provider: recording, file: …}`), or by the
 * setting of that name (`{module: ./mine.ts}`). The value tells which by its `is`.
 */
export interface Variants<Of extends Readonly<Record<string, Settings>>> {
  readonly type: 'variants'
  readonly variants: Of
  readonly says: string
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

/** Whether this setting is, or contains, something that must not be printed. */
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
