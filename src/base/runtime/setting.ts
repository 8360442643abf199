// The types of settings: a leaf (one value), a list, a group, or one of several variants. The whole configuration is one group:
// config/table.ts. The options of the library are checked by the same settings: check-options.ts.

import type { Json } from './json.ts'

interface Named {
  /** The name of the option of the library, if optionName() does not find it. */
  readonly option?: string
  /** The title of its section in docs/settings.md. Default: that of the setting around it. */
  readonly section?: string
}

/** One value. In YAML and in the environment it is a text; `parse` converts it. */
export interface Leaf<T> extends Named {
  readonly type: 'leaf'
  /** Completes the sentence "expected …". */
  readonly expected: string
  /** Undefined if the text is invalid. `base` is the folder to which relative paths refer. */
  readonly parse: (text: string, base: string) => T | undefined
  /** An option of the library has the value itself. Default: a text that `parse` accepts. */
  readonly asOption?: { readonly expected?: string; readonly fits: (value: unknown) => boolean }
  /** The unit, which ends the name of the option. */
  readonly unit?: 'Ms' | 'Bytes'
  /** Formats the value as it is written in YAML; absent: the value itself. */
  write?(value: T): string
  readonly help: string
  /** All values, if they are words. */
  readonly words?: readonly string[]
  /** The default, as it is written in YAML. */
  readonly default?: string
  readonly optional?: true
  /** Never printed or logged. */
  readonly secret?: true
  /** An address that is a secret as a whole, not only its password. */
  readonly secretAddress?: true
  /** A key of this process's own API. */
  readonly ownApiKey?: true
  /** The SHA-256 of such a key. */
  readonly isKeyDigest?: true
  /** Whether tokens of ours are sent to the address, without a secret beside it in the configuration. */
  readonly sendsTokens?: true
  /** The path of a file that is read with the configuration. */
  readonly readWithConfig?: true
  /** The path of a file that holds a secret. */
  readonly secretFile?: true
  /** An address that this process calls. */
  readonly outbound?: true
  /** Tells the user how to fix a missing or invalid value. */
  readonly remedy?: string
}

/** Any JSON, written as YAML: an unquoted 5 or true keeps its type, a quoted one is a text. It is printed, so it is no secret. */
export interface JsonSetting extends Named {
  readonly type: 'json'
  readonly help: string
  readonly optional?: true
  readonly remedy?: string
}

export interface List<Of extends Setting> extends Named {
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

export interface Group<Of extends Settings> extends Named {
  readonly type: 'group'
  readonly settings: Of
  readonly optional?: true
  readonly remedy?: string
}

/**
 * One of several alternatives: written as a word (`none`), with `provider:` (`{provider: recording, file: …}`), or as a setting
 * with the name of the variant (`{module: ./mine.ts}`). In the value, `is` is the name of the variant.
 */
export interface Variants<Of extends Readonly<Record<string, Settings>>> extends Named {
  readonly type: 'variants'
  readonly variants: Of
  /** The sections of the settings of the variants, or one for all. Default: `section`. */
  readonly sections?: string | Readonly<Record<string, string>>
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

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name
type OptionName<Name, S> = S extends { readonly option: infer Option extends string }
  ? Option
  : Name extends string
    ? `${CamelCase<Name>}${S extends { readonly unit: infer Unit extends string } ? Unit : ''}`
    : never

/**
 * The name of a setting in a checked configuration, and in the options of the library: in camel case, with the unit.
 *
 * @example optionName('answer_budget', duration({ help: '' })) // 'answerBudgetMs'
 */
export function optionName(name: string, setting: Setting): string {
  const unit = setting.type === 'leaf' ? (setting.unit ?? '') : ''
  return setting.option ?? name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) + unit
}

type Required<S extends Settings> = { [K in keyof S]: S[K] extends { optional: true } ? never : K }[keyof S]
type Flat<T> = { readonly [K in keyof T]: T[K] }
type GroupValue<S extends Settings> = Flat<
  { [K in Required<S> as OptionName<K, S[K]>]: ValueOf<S[K]> } & {
    [K in Exclude<keyof S, Required<S>> as OptionName<K, S[K]>]?: ValueOf<S[K]>
  }
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

export function json<const O extends Omit<JsonSetting, 'type'>>(options: O): JsonSetting & O {
  return { type: 'json', ...options }
}
export function list<Of extends Setting, const O extends Omit<List<Of>, 'type' | 'of'>>(
  of: Of,
  options: O,
): List<Of> & O {
  return { type: 'list', of, ...options }
}
/** @param section the title of the section in docs/settings.md; '': that of the setting around it */
export function group<Of extends Settings>(section: string, settings: Of): Group<Of>
export function group<Of extends Settings, const O extends Options>(section: string, of: Of, options: O): Group<Of> & O
export function group(section: string, settings: Settings, options?: Options): Group<Settings> {
  return { type: 'group', settings, ...(section !== '' && { section }), ...options }
}
type Options = Omit<Group<Settings>, 'type' | 'settings' | 'section'>

/** A list of groups. */
export function rows<Of extends Settings>(help: string, of: Of): List<Group<Of>>
export function rows<Of extends Settings, const O extends RowOptions>(
  help: string,
  of: Of,
  options: O,
): List<Group<Of>> & O
export function rows(help: string, of: Settings, options?: RowOptions): List<Group<Settings>> {
  return { type: 'list', help, of: group('', of), ...options }
}
type RowOptions = Omit<List<Setting>, 'type' | 'of' | 'help'>

export function variants<
  Of extends Readonly<Record<string, Settings>>,
  const O extends Omit<Variants<Of>, 'type' | 'variants'>,
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

/** The defaults of a group, by the names of the options. */
export function defaultsOf<S extends Settings>(settings: S): DefaultsOf<S> {
  const defaults = Object.entries(settings).flatMap(([name, setting]) =>
    setting.type === 'leaf' && setting.default !== undefined
      ? [[optionName(name, setting), setting.parse(setting.default, process.cwd())]]
      : [],
  )
  return Object.fromEntries(defaults) as DefaultsOf<S>
}
type DefaultsOf<S extends Settings> = Flat<{
  [K in keyof S as S[K] extends { readonly default: string } ? OptionName<K, S[K]> : never]: ValueOf<S[K]>
}>
