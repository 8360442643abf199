// What can be wrong with the options of a general HTTP provider. Pure.

import { closestName } from '../../runtime/closest-name.ts'
import type { Json } from '../../runtime/json.ts'
import { type HttpOptions, partsOf, presets, type Resolved, resolve, secretOf } from './options.ts'
import { faultOf } from './rules.ts'
import { placeholdersOf } from './template.ts'
import { type Mode, placeholders } from './values.ts'

export interface Fault {
  /** 'body.include_aliases.external_id[0]' */
  readonly at: string
  readonly what: string
  readonly remedy: string
}

/**
 * Everything that is wrong with the options: what a message would stumble over is said before the first one is sent.
 *
 * @param brands the brands whose messages come here, to see that their users are told apart; per user only
 */
export function faultsOf(options: HttpOptions, mode: Mode, brands: readonly string[] = []): Fault[] {
  const faults: Fault[] = []
  const say = (at: string, what: string, remedy: string): void => void faults.push({ at, what, remedy })
  const { preset } = options
  if (preset !== undefined && !presets.some(({ name }) => name === preset)) {
    const names = presets.map(({ name }) => name)
    const suggestion = closestName(preset, names)
    say('preset', `there is no preset ${preset}`, suggestion ? `did you mean ${suggestion}?` : `there are: ${names}`)
    return faults
  }
  const all = resolve(options)
  checkUrl(all, say)
  checkNames(all, mode, say)
  checkHeaders(all, say)
  for (const [i, rule] of all.rules.entries()) {
    const fault = faultOf(rule)
    if (fault !== undefined) say(`rules[${i}]`, fault, 'docs/push.md shows rules')
  }
  if (mode === 'device' && !/^[a-z0-9][a-z0-9._-]{0,58}$/.test(all.name))
    say(
      'name',
      `${all.name} cannot be a part of a device's kind`,
      'small letters, digits, dots, - and _: devices are linked with provider: http:NAME',
    )
  if (all.body !== undefined && !isObject(all.body) && all.overrides.length > 0)
    say('overrides', 'the body is no object', 'leave overrides out, or make the body an object')
  if (
    mode === 'user' &&
    brands.length > 1 &&
    !/\{\{\s*(activity\.brand_id|brand)\s*\}\}/.test(JSON.stringify(texts(all)))
  )
    say(
      'user_id',
      `users of the brands ${brands.join(' and ')} with the same id would be the same person to the provider (row 31)`,
      'write user_id: "{{brand}}-{{user_id}}" and tell the provider the same ids, or use {{brand}} in url, headers or body',
    )
  return faults
}

type Say = (at: string, what: string, remedy: string) => void

const texts = ({ url, headers, body, userId }: Resolved): Json => [
  url,
  userId,
  body ?? null,
  ...headers.map((h) => h.value),
]

function checkUrl({ url }: Resolved, say: Say): void {
  const { origin, path } = partsOf(url)
  if (url === '') say('url', 'missing; expected an address', 'write url: https://…, or preset: onesignal')
  else if (!/^https?:\/\/[^/?#{}]+$/.test(origin) || !URL.canParse(origin))
    say('url', 'expected an address such as https://api.example/send', 'placeholders may follow the host only')
  else if (new URL(origin).username !== '' || new URL(origin).password !== '')
    say('url', 'holds a user and a password', 'write auth: {basic: USER, password: …}')
  const literal = path.replaceAll(/\{\{[^{}]*\}\}/g, '')
  if (!/^[\w\-.~!$&'()*+,;=:@%/?]*$/.test(literal))
    say('url', 'holds characters that must not stand in an address', 'percent-encode them, as in %20')
}

function checkNames(all: Resolved, mode: Mode, say: Say): void {
  const own = [...all.secrets.keys()].map((name) => `secret.${name}`)
  const known = [...placeholders[mode], ...own]
  const found = [
    ...placeholdersOf(all.url, 'url'),
    ...all.headers.flatMap(({ name, value }) => placeholdersOf(value, `headers.${name}`)),
    ...placeholdersOf(all.body ?? null, 'body'),
    ...placeholdersOf(all.auth.kind === 'header' ? all.auth.value : null, 'auth'),
    ...placeholdersOf(all.userId, 'user_id'),
  ]
  for (const { name, at } of found) {
    if (name === undefined) say(at, 'holds {{ without being a placeholder', 'write {{name}}, in values only')
    else if (at === 'auth' || !known.includes(name))
      say(at, `there is no placeholder {{${name}}}${at === 'auth' ? ' here' : ''}`, remedyFor(name, mode, known))
    else if (at === 'user_id' && !['user_id', 'brand'].includes(name))
      say(at, `{{${name}}} does not say who the user is`, 'use {{user_id}} and {{brand}}')
  }
}

function remedyFor(name: string, mode: Mode, known: readonly string[]): string {
  if (name.startsWith('secret.')) return `add {name: ${name.slice(7)}, value: …} under secrets`
  const other = mode === 'user' ? 'device' : 'user'
  if (placeholders[other].includes(name))
    return mode === 'user' ? 'it is known per device only' : 'it is known per user only: use {{push_id}} or {{user_id}}'
  const suggestion = closestName(name, known)
  return suggestion ? `did you mean {{${suggestion}}}?` : `there are: ${known.join(', ')}`
}

const ofTheConnection = ['host', 'content-length', 'transfer-encoding', 'connection', 'expect', 'upgrade', 'keep-alive']

const credential = /auth|key|token|secret|password|cookie/i

function checkHeaders({ headers, auth, secrets }: Resolved, say: Say): void {
  for (const { name, value } of headers) {
    if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(name)) say(`headers.${name}`, 'is not the name of a header', 'as in X-Api-Key')
    else if (ofTheConnection.includes(name.toLowerCase()))
      say(`headers.${name}`, 'is set by the connection itself', 'leave it out')
    if (credential.test(name) && value.split(/\{\{[^{}]*\}\}|\s/).some((literal) => literal.length >= 12))
      say(
        `headers.${name}`,
        'holds a credential, which would be shown',
        'put it under auth, or under secrets as {{secret.NAME}}',
      )
    if (!isPrintable(value)) say(`headers.${name}`, 'holds characters that must not stand in a header', 'ASCII only')
    for (const [, secret = ''] of value.matchAll(secretOf))
      if (!isPrintable(secrets.get(secret) ?? ''))
        say(`headers.${name}`, `the secret ${secret} cannot stand in a header`, 'ASCII only')
  }
  if (auth.kind === 'header' && !isPrintable(auth.value))
    say('auth', 'the value cannot stand in a header', 'ASCII only')
  if (auth.kind === 'oauth2' && !(URL.canParse(auth.tokenUrl) && /^https?:$/.test(new URL(auth.tokenUrl).protocol)))
    say('auth', 'the token endpoint is no address', 'write auth: {oauth2: "https://…", client_id: …, client_secret: …}')
  if (auth.kind === 'standard-webhooks' && Buffer.from(auth.secret.replace(/^whsec_/, ''), 'base64').length < 16)
    say(
      'auth',
      'expected whsec_ and at least 24 bytes in base64',
      'make one with: echo whsec_$(openssl rand -base64 32)',
    )
}

const isPrintable = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)
const isObject = (value: Json): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
