// Who is attacked: an operator and a platform of their own processes, with two brands each, and stand-ins of the push services.

import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { createSubscriberToken } from '../../../src/http/subscriber-token.ts'
import { type Command, startCommand } from '../../harness/command.ts'

type Headers = Readonly<Record<string, string>>

export interface Answer {
  readonly status: number
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

export interface Side extends Command {
  readonly url: string
  /** With the side's key for /admin, unless the headers say otherwise. A body is JSON, unless the headers say otherwise. */
  ask(method: 'GET' | 'POST', path: string, body?: object | string, headers?: Headers): Promise<Answer>
}

/** The user's own app or page. */
export interface Player {
  readonly brand: string
  readonly user: string
  readonly authorization: string
  ask(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer>
}

export interface Device {
  readonly id: number
  readonly link: object
}

export interface Target {
  readonly operator: Side
  readonly platform: Side
  readonly keys: Readonly<Record<string, string>>
  readonly small: boolean
  player(brand: string, user: string): Promise<Player>
  device(service: 'fcm' | 'apns'): Promise<Device>
  /** Its app is removed: its push service says that it is gone. */
  remove(device: Device): Promise<void>
  /** One push to a user, as the platform of that brand sends it. */
  push(brand: string, user: string, more?: object): Promise<Answer>
  /** Metrics of the operator, as text. */
  metrics(): Promise<string>
}

const secret = (): string => randomBytes(24).toString('base64url')
let lastId = Date.now() * 1_000

export async function startTarget(folder: string, small: boolean, signal: AbortSignal): Promise<Target> {
  const standIns = join(folder, 'stand-ins')
  await mkdir(standIns, { recursive: true })
  const log = (name: string): string => join(folder, `${name}.log`)
  const [, { control }] = await startCommand(
    ['stand-ins', '--dir', standIns, '--port', '0', '--json'],
    log('stand-ins'),
    'running',
    signal,
  )
  const keys: Readonly<Record<string, string>> = { '1': secret(), '2': secret() }
  const admin = { operator: secret(), platform: secret() }
  const appSecret = secret()
  const written = parse(await readFile(join(standIns, 'bellwire.yaml'), 'utf8')) as { operator: { push: object } }

  const operator = await startSide('operator', {
    host: '127.0.0.1',
    port: 0,
    store: `sqlite:${join(folder, 'operator.db')}`,
    keys: Object.entries(keys).map(([brand, key]) => ({ name: `brand ${brand}`, key, brands: [Number(brand)] })),
    admin_keys: [{ name: 'back office', key: admin.operator, scopes: ['read', 'manage', 'devices'] }],
    suppression: 'none',
    push: written.operator.push,
    site: { provider: 'inbox' },
    app: { secrets: [appSecret] },
  })
  const platform = await startSide('platform', {
    host: '127.0.0.1',
    port: 0,
    store: `sqlite:${join(folder, 'platform.db')}`,
    keys: [{ name: 'crm', key: admin.platform, scopes: ['enqueue', 'read', 'manage'] }],
    lanes: Object.entries(keys).map(([brand, key]) => ({
      brand: Number(brand),
      channel: 'push',
      to: { provider: 'operator-api', url: operator.url, api_key: key },
      mode: 'batch',
    })),
  })

  return {
    operator,
    platform,
    keys,
    small,
    async player(brand, user) {
      const token = await createSubscriberToken({ secret: appSecret, brand, userId: user, ttlSeconds: 3_600 })
      const authorization = `Bearer ${token}`
      const headers = { authorization }
      return {
        brand,
        user,
        authorization,
        ask: (method, path, body) => ask(operator.url + path, method, body, headers),
      }
    },
    async device(service) {
      const { json } = await ask(`${control}/devices`, 'POST', { service })
      return json as unknown as Device
    },
    async remove({ id }) {
      await ask(`${control}/devices/${id}`, 'POST', { gone: true })
    },
    push: (brand, user, more) =>
      ask(`${operator.url}/channels/push/single`, 'POST', activity(brand, user, more), {
        'x-api-key': keys[brand] as string,
      }),
    async metrics() {
      return (await ask(`${operator.url}/metrics`, 'GET')).text
    },
  }

  async function startSide(side: 'operator' | 'platform', settings: object): Promise<Side> {
    // In the folder of the credentials that the configuration names; JSON is YAML, too.
    const config = join(standIns, `${side}.yaml`)
    await writeFile(config, JSON.stringify({ [side]: settings, log: { format: 'json' } }), { mode: 0o600 })
    const [command, { url }] = await startCommand([side, '--config', config], log(side), 'server.listening', signal)
    const key = { 'x-api-key': admin[side] }
    return {
      ...command,
      url: String(url),
      ask: (method, path, body, headers) => ask(String(url) + path, method, body, { ...key, ...headers }),
    }
  }
}

export function activity(brand: string, user: string, more: object = {}): object {
  const record = {
    id: ++lastId,
    brand_id: Number(brand),
    user_id: user,
    activity_id: 1,
    action_group_id: 1,
    trigger_hash: 'h',
    action_id: 1,
  }
  return { activity: record, title: 'Hello', body: 'There', ...more }
}

async function ask(
  url: string,
  method: 'GET' | 'POST',
  body?: object | string,
  headers: Headers = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  return { status: response.status, text, json: readJson(text) }
}

function readJson(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return {} // Metrics, or a page: the text is what counts.
  }
}
