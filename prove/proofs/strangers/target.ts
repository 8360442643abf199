// The target of the attacks: an operator and a platform in separate processes, with two brands, and stand-ins of push services.

import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { createSubscriberToken } from '../../../src/base/http/subscriber-token.ts'
import { type Command, startCommand } from '../../harness/command.ts'
import { startHangingHost } from './hanging-host.ts'
import { type HostileOperator, startHostileOperator } from './hostile-operator.ts'

type Headers = Readonly<Record<string, string>>

export interface Answer {
  readonly status: number
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

export interface Side extends Command {
  readonly url: string
  /** Sends a request. Default headers: the side's key for /admin, and the content type JSON. */
  request(method: 'GET' | 'POST', path: string, body?: object | string, headers?: Headers): Promise<Answer>
}

/** The app or page of a user. */
export interface UserApp {
  readonly brand: string
  readonly user: string
  readonly authorization: string
  request(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer>
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
  /** The operator of brand 3. */
  readonly hostile: HostileOperator
  userApp(brand: string, user: string): Promise<UserApp>
  device(service: 'fcm' | 'apns' | 'web-push'): Promise<Device>
  /** Uninstalls the app of a device: the push service reports the device as gone. */
  remove(device: Device): Promise<void>
  /** Sends one push to a user, as the platform does. */
  push(brand: string, user: string, more?: object): Promise<Answer>
  /** Reads the metrics of the operator. */
  metrics(): Promise<string>
}

interface Origin {
  readonly from: string
  readonly to: string
}

interface StandInConfig {
  readonly operator: {
    readonly push: {
      readonly devices: { readonly services: { provider: string; testing?: { origins: Origin[] } }[] }
    }
  }
}

const secret = (): string => randomBytes(24).toString('base64url')
let lastId = Date.now() * 1_000

/** Whether the sides are commands, or mounted in a server of node:http. */
export type Kind = 'command' | 'mounted'
const mountedSide = new URL('../../processes/mounted-side.ts', import.meta.url)

export async function startTarget(folder: string, kind: Kind, small: boolean, signal: AbortSignal): Promise<Target> {
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
  const standInConfig = parse(await readFile(join(standIns, 'bellwire.yaml'), 'utf8')) as StandInConfig
  const hostile = await startHostileOperator(signal)
  const hanging = await startHangingHost(signal)
  for (const service of standInConfig.operator.push.devices.services)
    if (service.provider === 'web-push') service.testing = { origins: [...(service.testing?.origins ?? []), hanging] }

  const operator = await startSide('operator', {
    host: '127.0.0.1',
    port: 0,
    store: `sqlite:${join(folder, 'operator.db')}`,
    keys: Object.entries(keys).map(([brand, key]) => ({ name: `brand ${brand}`, key, brands: [Number(brand)] })),
    admin_keys: [
      { name: 'back office', key: admin.operator, scopes: ['counts', 'read', 'decide', 'attributes', 'devices'] },
    ],
    suppression: 'none',
    push: standInConfig.operator.push,
    site: { provider: 'inbox' },
    app: { secrets: [appSecret] },
    status: {},
  })
  const platform = await startSide('platform', {
    host: '127.0.0.1',
    port: 0,
    store: `sqlite:${join(folder, 'platform.db')}`,
    keys: [{ name: 'crm', key: admin.platform, scopes: ['enqueue', 'counts', 'read', 'decide', 'attributes'] }],
    lanes: [
      ...Object.entries(keys).map(([brand, key]) => ({
        brand: Number(brand),
        channel: 'push',
        to: { provider: 'operator-api', url: operator.url, api_key: key },
        mode: 'batch',
        status: { webhook_secrets: [`whsec_${randomBytes(32).toString('base64')}`] },
      })),
      {
        brand: 3,
        channel: 'push',
        to: { provider: 'operator-api', url: hostile.url, api_key: secret() },
        mode: 'batch',
        status: { poll: small ? '500ms' : '100ms' },
      },
    ],
  })

  return {
    operator,
    platform,
    keys,
    small,
    hostile,
    async userApp(brand, user) {
      const token = await createSubscriberToken({ secret: appSecret, brand, userId: user, ttlSeconds: 3_600 })
      const authorization = `Bearer ${token}`
      const headers = { authorization }
      return {
        brand,
        user,
        authorization,
        request: (method, path, body) => sendRequest(operator.url + path, method, body, headers),
      }
    },
    async device(service) {
      const { json } = await sendRequest(`${control}/devices`, 'POST', { service })
      return json as unknown as Device
    },
    async remove({ id }) {
      await sendRequest(`${control}/devices/${id}`, 'POST', { gone: true })
    },
    push: (brand, user, more) =>
      sendRequest(`${operator.url}/channels/push/single`, 'POST', activity(brand, user, more), {
        'x-api-key': keys[brand] as string,
      }),
    async metrics() {
      return (await sendRequest(`${operator.url}/metrics`, 'GET')).text
    },
  }

  async function startSide(side: 'operator' | 'platform', settings: object): Promise<Side> {
    // The folder contains the credentials that the configuration names. JSON is valid YAML.
    const config = join(standIns, `${side}.yaml`)
    await writeFile(config, JSON.stringify({ [side]: settings, log: { format: 'json' } }), { mode: 0o600 })
    const program = kind === 'mounted' ? mountedSide : undefined
    const args = [side, '--config', config]
    const [command, { url }] = await startCommand(args, log(side), 'server.listening', signal, program)
    const key = { 'x-api-key': admin[side] }
    return {
      ...command,
      url: String(url),
      request: (method, path, body, headers) => sendRequest(String(url) + path, method, body, { ...key, ...headers }),
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

async function sendRequest(
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
    return {} // not JSON, such as metrics
  }
}
