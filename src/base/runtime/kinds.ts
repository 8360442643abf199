// The types of values and their parsers. Each is a function from a setting's description to the setting.

import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { serverAddresses } from './address.ts'
import type { Leaf } from './setting.ts'

type Description = Omit<Leaf<unknown>, 'type' | 'expected' | 'parse' | 'write' | 'asOption' | 'unit'>

type Extras<T> = Pick<
  Leaf<T>,
  'words' | 'write' | 'ownApiKey' | 'isKeyDigest' | 'outbound' | 'remedy' | 'secret' | 'asOption' | 'unit'
>

export function kind<T, const E extends Extras<T> = object>(expected: string, parse: Leaf<T>['parse'], extras?: E) {
  return <const O extends Description>(info: O): Leaf<T> & E & O =>
    ({ type: 'leaf', expected, parse, ...extras, ...info }) as Leaf<T> & E & O
}

export const text = kind('a text', (text) => (text === '' ? undefined : text))

/** A JSON Pointer into a request element (RFC 6901). */
export const pointer = kind('a JSON Pointer, such as /title or /content/title', (text) =>
  /^(?:\/(?:[^~/]|~[01])*)+$/.test(text) ? text : undefined,
)

const pathWords = 'a path, relative to the configuration file'
export const path = kind(pathWords, (text, base) => resolve(base, text))
export const isPath = ({ expected }: Pick<Leaf<unknown>, 'expected'>): boolean => expected === pathWords

export const yesNo = kind('true or false', (text) => ({ true: true, false: false })[text], {
  asOption: { fits: (value: unknown) => typeof value === 'boolean' },
})

/** A brand's number, 0 to 2^63−1 (row 1), kept as text so that no digit is lost. */
export const brand = kind('the number of a brand', (text) =>
  /^(0|[1-9]\d{0,18})$/.test(text) && BigInt(text) < 2n ** 63n ? text : undefined,
)

/** An address whose every part is used: a user name, a password and a fragment would be dropped. */
export const url = kind(
  'an http or https address without user name, password and fragment, such as https://operator.example/api',
  (text) => (isUrl(text) ? text : undefined),
  { outbound: true },
)

function isUrl(text: string): boolean {
  if (!URL.canParse(text) || text.includes('#')) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/** An address to which others append paths, so it has no query. */
export const baseUrl = kind(
  'an http or https address without user name, password, query and fragment, such as https://operator.example/api',
  (text) => (isUrl(text) && !text.includes('?') ? text.replace(/\/+$/, '') : undefined),
  { outbound: true },
)

/** An HTTP proxy. The calls through it have TLS of their own, so clear text to the proxy is no risk. */
export const proxyUrl = kind(
  'an http address of a proxy without a path, such as http://USER:PASSWORD@proxy.example.com:3128',
  (text) => (isProxyUrl(text) ? text.replace(/\/+$/, '') : undefined),
)

export function isProxyUrl(text: string): boolean {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false
  const { protocol, pathname } = new URL(text)
  return protocol === 'http:' && pathname === '/'
}

export const amqp = kind(
  'an amqp or amqps address, such as amqps://USER:PASSWORD@broker/',
  (text) => (URL.canParse(text) && /^amqps?:$/.test(new URL(text).protocol) && !text.includes('#') ? text : undefined),
  { outbound: true },
)

export const broker = kind('host:port', (text) => (/^[^\s:/]+:\d{1,5}$/.test(text) ? text : undefined), {
  outbound: true,
})

export const network = kind('an address or a network, such as 10.0.0.0/8', (text) => {
  const [address = '', bits = '0', ...more] = text.split('/')
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most ? text : undefined
})

export const origin = kind('an origin, such as https://www.example.com', (text) =>
  URL.canParse(text) && new URL(text).origin === text ? text : undefined,
)

/** An API key. Short keys are refused because they can be guessed. */
export const key = kind(
  'at least 16 characters without spaces',
  (text) => (/^[\x21-\x7e]{16,}$/.test(text) ? text : undefined),
  { ownApiKey: true, secret: true, remedy: 'make one with: openssl rand -hex 24' },
)
export const longKey = kind(
  'at least 32 characters without spaces',
  (text) => (/^[\x21-\x7e]{32,}$/.test(text) ? text : undefined),
  { ownApiKey: true, secret: true, remedy: 'make one with: openssl rand -hex 32' },
)

/** The SHA-256 of an API key. */
export const keyDigest = kind(
  'the SHA-256 of a key, 64 hexadecimal digits',
  (text) => (/^[\da-f]{64}$/i.test(text) ? text.toLowerCase() : undefined),
  { isKeyDigest: true, remedy: 'make a key and its SHA-256 with: bellwire keys new' },
)

/** A moment, kept as text. */
export const time = kind('a date and time with its zone, such as 2027-01-31T00:00:00Z', (text) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
    ? text
    : undefined,
)

export const store = kind(
  'sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE',
  (text, base) => {
    if (text.startsWith('sqlite:')) return text === 'sqlite:' ? undefined : `sqlite:${resolve(base, text.slice(7))}`
    return postgresAddress(text)
  },
  { outbound: true, secret: true },
)

export const postgres = kind('postgres://USER:PASSWORD@HOST/DATABASE', postgresAddress, {
  outbound: true,
  secret: true,
})

function postgresAddress(text: string): string | undefined {
  const isPostgres = /^postgres(ql)?:\/\//i.test(text) && serverAddresses(text).every((each) => URL.canParse(each))
  return isPostgres && !text.includes('#') ? text : undefined
}

export function integer<const O extends Description>(from: number, to: number, info: O) {
  const fits = (value: unknown): boolean =>
    Number.isSafeInteger(value) && (value as number) >= from && (value as number) <= to
  const parse = (text: string): number | undefined =>
    /^\d{1,15}$/.test(text) && fits(Number(text)) ? Number(text) : undefined
  return kind(`a whole number from ${from} to ${to}`, parse, { asOption: { fits } })(info)
}

export function oneOf<const W extends readonly string[], const O extends Description>(words: W, info: O) {
  const parse = (text: string): W[number] | undefined => words.find((word) => word === text)
  return kind<W[number]>(`${words.slice(0, -1).join(', ')} or ${words.at(-1)}`, parse, { words })(info)
}

/** A duration in milliseconds, written with its unit: a number alone would be ambiguous. */
export const duration = kind(
  'a time with its unit: 500ms, 20s, 5min, 24h or 90d',
  ...quantity({ d: 86_400_000, h: 3_600_000, min: 60_000, s: 1000, ms: 1 }, 'Ms', {
    expected: 'a time in milliseconds',
    fits: (value) => typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY,
  }),
)

/** Bytes. */
export const size = kind(
  'a size with its unit: 512KiB or 16MiB',
  ...quantity({ GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024, B: 1 }, 'Bytes', {
    expected: 'a whole number of bytes, at least 1',
    fits: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
  }),
)

/** @param units from the largest to the base unit, which is 1 */
function quantity<U extends 'Ms' | 'Bytes'>(
  units: Readonly<Record<string, number>>,
  unit: U,
  asOption: NonNullable<Leaf<number>['asOption']>,
) {
  const form = new RegExp(`^(\\d{1,9}(?:\\.\\d+)?) ?(${Object.keys(units).join('|')})$`)
  const parse = (text: string): number | undefined => {
    const [, count, unit = ''] = form.exec(text) ?? []
    const value = count === undefined ? undefined : Math.round(Number(count) * (units[unit] ?? Number.NaN))
    return asOption.fits(value) ? value : undefined
  }
  const write = (value: number): string => {
    const [unit, each] = Object.entries(units).find(([, each]) => value % each === 0) ?? ['', 1]
    return `${value / each}${unit}`
  }
  return [parse, { write, unit, asOption }] as const
}
