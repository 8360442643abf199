// Validates the options of a general HTTP provider. Pure.

import { closestName } from '../../../base/runtime/closest-name.ts'
import type { Json } from '../../../base/runtime/json.ts'
import { type HttpOptions, type Resolved, resolveOptions, secretOf, splitUrl } from './options.ts'
import { presets } from './presets.ts'
import { faultOf } from './rules.ts'
import { placeholdersOf } from './template.ts'
import { type Mode, placeholders } from './values.ts'

export interface Fault {
  /** 'body.include_aliases.external_id[0]' */
  readonly at: string
  readonly description: string
  readonly remedy: string
}

/**
 * Finds all faults of the options, so that a fault is reported before the first message is sent.
 *
 * @param brands the brands whose messages the provider sends, to check that their users are distinguished; in mode 'user' only
 */
export function faultsOf(options: HttpOptions, mode: Mode, brands: readonly string[] = []): Fault[] {
  const faults: Fault[] = []
  const report = (at: string, description: string, remedy: string): void =>
    void faults.push({ at, description, remedy })
  const { preset } = options
  if (preset !== undefined && !presets.some(({ name }) => name === preset)) {
    const names = presets.map(({ name }) => name)
    const suggestion = closestName(preset, names)
    report('preset', `there is no preset ${preset}`, suggestion ? `did you mean ${suggestion}?` : `known are: ${names}`)
    return faults
  }
  const all = resolveOptions(options)
  checkUrl(all, report)
  checkPlaceholders(all, mode, report)
  checkHeaders(all, report)
  for (const [i, rule] of all.rules.entries()) {
    const fault = faultOf(rule)
    if (fault !== undefined) report(`rules[${i}]`, fault, 'docs/push.md shows rules')
  }
  if (mode === 'device' && !/^[a-z0-9][a-z0-9._-]{0,58}$/.test(all.name))
    report(
      'name',
      `${all.name} cannot be a part of a device's kind`,
      'use lower-case letters, digits, dots, - and _: devices are linked with provider: http:NAME',
    )
  if (all.body !== undefined && !isObject(all.body) && all.overrides.length > 0)
    report('overrides', 'the body is not an object', 'remove overrides, or make the body an object')
  if (
    mode === 'user' &&
    brands.length > 1 &&
    !/\{\{\s*(activity\.brand_id|brand)\s*\}\}/.test(JSON.stringify(texts(all)))
  )
    report(
      'user_id',
      `users of the brands ${brands.join(' and ')} with the same id would be the same person to the provider`,
      'set user_id: "{{brand}}-{{user_id}}" and register these ids with the provider, or use {{brand}} in url, headers or body',
    )
  return faults
}

type Report = (at: string, description: string, remedy: string) => void

const texts = ({ url, headers, body, userId }: Resolved): Json => [
  url,
  userId,
  body ?? null,
  ...headers.map((h) => h.value),
]

function checkUrl({ url }: Resolved, report: Report): void {
  const { origin, path } = splitUrl(url)
  if (url === '') report('url', 'missing; expected a URL', 'set url: https://…, or preset: onesignal')
  else if (!/^https?:\/\/[^/?#{}]+$/.test(origin) || !URL.canParse(origin))
    report('url', 'expected a URL such as https://api.example/send', 'placeholders are allowed after the host only')
  else if (new URL(origin).username !== '' || new URL(origin).password !== '')
    report('url', 'contains a user name or password', 'use auth: {basic: USER, password: …}')
  const literal = path.replaceAll(/\{\{[^{}]*\}\}/g, '')
  if (!/^[\w\-.~!$&'()*+,;=:@%/?]*$/.test(literal))
    report('url', 'contains characters that are not allowed in a URL', 'percent-encode them, as in %20')
}

function checkPlaceholders(all: Resolved, mode: Mode, report: Report): void {
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
    if (name === undefined)
      report(at, 'contains {{ that does not begin a placeholder', 'write {{name}}, in values only')
    else if (at === 'auth' || !(known.includes(name) || (mode === 'status' && name.startsWith('meta/'))))
      report(at, `there is no placeholder {{${name}}}${at === 'auth' ? ' here' : ''}`, remedyFor(name, mode, known))
    else if (at === 'user_id' && !['user_id', 'brand'].includes(name))
      report(at, `{{${name}}} does not identify a user`, 'use {{user_id}} and {{brand}}')
  }
}

function remedyFor(name: string, mode: Mode, known: readonly string[]): string {
  if (name.startsWith('secret.')) return `add {name: ${name.slice(7)}, value: …} under secrets`
  const other = mode === 'user' ? 'device' : 'user'
  if (mode !== 'status' && placeholders[other].includes(name))
    return mode === 'user'
      ? 'it is available per device only'
      : 'it is available per user only: use {{push_id}} or {{user_id}}'
  const suggestion = closestName(name, known)
  return suggestion ? `did you mean {{${suggestion}}}?` : `known are: ${known.join(', ')}`
}

const clientHeaders = ['host', 'content-length', 'transfer-encoding', 'connection', 'expect', 'upgrade', 'keep-alive']

const credentialName = /auth|key|token|secret|password|cookie/i

function checkHeaders({ headers, auth, secrets }: Resolved, report: Report): void {
  for (const { name, value } of headers) {
    if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(name))
      report(`headers.${name}`, 'is not a valid header name', 'use a name such as X-Api-Key')
    else if (clientHeaders.includes(name.toLowerCase()))
      report(`headers.${name}`, 'is set by the HTTP client', 'remove it')
    if (credentialName.test(name) && value.split(/\{\{[^{}]*\}\}|\s/).some((literal) => literal.length >= 12))
      report(
        `headers.${name}`,
        'contains a credential, which would be shown in the configuration',
        'move it to auth, or to secrets and use {{secret.NAME}}',
      )
    if (!isPrintable(value))
      report(`headers.${name}`, 'contains characters that are not allowed in a header', 'use ASCII only')
    for (const [, secret = ''] of value.matchAll(secretOf))
      if (!isPrintable(secrets.get(secret) ?? ''))
        report(`headers.${name}`, `the secret ${secret} is not valid in a header`, 'use ASCII only')
  }
  if (auth.kind === 'header' && !isPrintable(auth.value))
    report('auth', 'the value is not valid in a header', 'use ASCII only')
  if (auth.kind === 'oauth2' && !(URL.canParse(auth.tokenUrl) && /^https?:$/.test(new URL(auth.tokenUrl).protocol)))
    report('auth', 'the token endpoint is not a URL', 'use auth: {oauth2: "https://…", client_id: …, client_secret: …}')
  if (auth.kind === 'standard-webhooks' && Buffer.from(auth.secret.replace(/^whsec_/, ''), 'base64').length < 16)
    report(
      'auth',
      'expected whsec_ and at least 24 bytes in base64',
      'generate one with: echo whsec_$(openssl rand -base64 32)',
    )
}

const isPrintable = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)
const isObject = (value: Json): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
