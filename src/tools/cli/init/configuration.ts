// The files of a new configuration: bellwire.yaml, which names each secret with ${file:…}, and one file for each secret.

import { randomBytes } from 'node:crypto'
import type { Scope } from '../../../base/http/access.ts'
import { makeVapidKeys } from '../../../subjects/providers/web-push/vapid.ts'

export interface OperatorAnswers {
  readonly brands: readonly string[]
  readonly store: string
  readonly push: 'recording' | 'web-push'
  /** A CSV file; none: messages go to all users. */
  readonly users: string
}

export interface PlatformAnswers {
  readonly brands: readonly string[]
  readonly store: string
  /** The address of the operator. */
  readonly operator: string
  /** The key that the operator issued. */
  readonly operatorKey: string
}

/** Paths, relative to the folder of the configuration, with their contents. */
export interface NewFiles {
  readonly configuration: string
  readonly secrets: Readonly<Record<string, string>>
  /** The options of `bellwire push` that send the first message. */
  readonly firstMessage: string
}

/** @example operatorFiles({ brands: ['1'], store: 'sqlite:bellwire.db', push: 'recording', users: 'none' }) */
export function operatorFiles({ brands, store, push, users }: OperatorAnswers): NewFiles {
  const { publicKey, privateKey } = makeVapidKeys()
  const service = `
    devices:
      source: registry # browsers link their subscriptions with the routes under /app
      services:
        - provider: web-push
          public_key: ${publicKey}
          private_key: "\${file:keys/vapid-private}"
          subject: mailto:ops@example.com # write an address of yours: browser vendors use it to report problems`
  const recording =
    '\n    {provider: recording, file: pushed.ndjson} # writes messages to a file instead of sending them'
  const source = `attributes: # the source of blocked, excluded and consenting users: docs/attributes.md
    - file: ${quote(users)}`
  const configuration = `${head}operator:
  port: 7001 # the API that the platform calls
  admin: {port: 7101} # /admin, /metrics and /docs: keep this address inside your network
  store: ${quote(store)}
  keys: # the platform sends this key as X-Api-Key
    - {name: platform, key: "\${file:keys/platform}", brands: [${brands.join(', ')}]}
  admin_keys: # for you and your services; docs/running.md lists further scopes
    - {name: administrator, key: "\${file:keys/administrator}", scopes: [${firstScopes.join(', ')}]}
  push:${push === 'recording' ? recording : service}
  site: inbox # on-site notifications are stored, listed and streamed to the browser
  app: # subscriber tokens of pages and apps
    secrets: ["\${file:keys/app}"]
    # origins: [https://www.example.com] # the sites whose pages may call /app, to link a browser or to read the inbox
  ${users === 'none' ? 'suppression: none # sends to all users: before production, name the source of users (docs/attributes.md)' : source}
`
  return {
    configuration,
    firstMessage: `${messageTo(brands)}${push === 'web-push' ? ' --subscribe' : ''}`,
    secrets: {
      'keys/platform': newKey(),
      'keys/administrator': newKey(),
      'keys/app': newKey(),
      ...(push === 'web-push' && { 'keys/vapid-private': privateKey }),
    },
  }
}

export function platformFiles({ brands, store, operator, operatorKey }: PlatformAnswers): NewFiles {
  const to = `{provider: operator-api, url: ${quote(operator)}, api_key: "\${file:keys/operator}"}`
  const lanes = brands.flatMap((brand) =>
    ['push', 'site'].map((channel) => `    - {brand: ${brand}, channel: ${channel}, to: ${to}}`),
  )
  const configuration = `${head}platform:
  port: 7002 # device links and delivery statuses arrive here
  admin: {port: 7102} # /admin, /metrics and /docs: keep this address inside your network
  store: ${quote(store)}
  keys: # your CRM and your services send this key as X-Api-Key; docs/running.md lists further scopes
    - {name: administrator, key: "\${file:keys/administrator}", scopes: [enqueue, ${firstScopes.join(', ')}]}
  lanes: # one for each brand and channel
${lanes.join('\n')}
`
  const secrets = { 'keys/administrator': newKey(), 'keys/operator': operatorKey }
  return { configuration, secrets, firstMessage: messageTo(brands) }
}

const messageTo = ([brand, ...others]: readonly string[]): string =>
  `--user 1001${others.length > 0 ? ` --brand ${brand}` : ''}`

const head = `# yaml-language-server: $schema=bellwire.schema.json
# Check this file with \`bellwire config --check\`. docs/settings.md lists all settings.

`

/** They send a message, show its life, and open the console. Changes, copies and erasures need a further scope. */
const firstScopes: readonly Scope[] = ['counts', 'read', 'audit']

const newKey = (): string => randomBytes(32).toString('hex')

/** A text in YAML: a JSON text is one. */
const quote = (text: string): string => JSON.stringify(text)
