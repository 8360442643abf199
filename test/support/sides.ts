// Starts an operator or a platform for a test, on a free port and with its own store. Both are removed when the test ends.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { request } from 'undici'
import { allScopes } from '../../src/base/http/access.ts'
import { type ListenOptions, listen } from '../../src/base/http/http.ts'
import { chain } from '../../src/base/http/mount.ts'
import { createOperator, type Operator } from '../../src/sides/operator/create-operator.ts'
import type { OperatorOptions } from '../../src/sides/operator/options.ts'
import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import type { LaneOptions, PlatformOptions } from '../../src/sides/platform/options.ts'
import type { Registry } from '../../src/subjects/devices/registry.ts'
import type { Message, Provider, Result } from '../../src/subjects/providers/provider.ts'
import type { StatusRecorder } from '../../src/subjects/status/recorder.ts'
import { checkDocumented, noteServer } from './documented.ts'
import { until } from './wait.ts'

/** A key for each of two brands with equal user ids, and one key for both. */
export const keys = {
  one: { name: 'platform of brand 1', key: 'the-key-of-brand-1', brands: ['1'] },
  two: { name: 'platform of brand 2', key: 'the-key-of-brand-2', brands: ['2'] },
  both: { name: 'platform of both', key: 'the-key-of-both-brands', brands: ['1', '2'] },
} as const
export const adminKey = {
  name: 'admin',
  key: 'the-key-of-the-admin',
  scopes: allScopes.filter((scope) => scope !== 'devices'),
} as const

export interface Witness extends Provider {
  /** Every message of every call, in order. */
  readonly received: Message[]
}

/** A provider that records its messages. `answer` chooses the result of each; by default all are accepted. */
export function witness(answer?: (message: Message) => Result | Promise<Result>, max = 1_000): Witness {
  const received: Message[] = []
  return {
    name: 'witness',
    max,
    received,
    send: (messages) => {
      received.push(...messages)
      return Promise.all(
        messages.map(async (m) =>
          answer ? answer(m) : { category: 'successful' as const, ref: m.ref, rule: 'accepted' },
        ),
      )
    },
  }
}

export async function temporary(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bellwire-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function newOperator(t: TestContext, options: Partial<OperatorOptions>): Promise<Operator> {
  const folder = await temporary(t)
  const operator = createOperator({
    store: `sqlite:${join(folder, 'operator.db')}`,
    keys: [keys.one, keys.two, keys.both],
    adminKeys: [adminKey],
    ...(!options.attributes && { suppression: 'none' as const }),
    push: witness(),
    site: 'inbox',
    ...options,
  })
  await operator.start()
  return operator
}

/** Starts an operator without a server. */
export async function openOperator(t: TestContext, options: Partial<OperatorOptions> = {}): Promise<Operator> {
  const operator = await newOperator(t, options)
  t.after(() => operator.stop(1_000))
  return operator
}

export async function startOperator(
  t: TestContext,
  { listen: at, ...options }: Partial<OperatorOptions> & { listen?: ListenOptions } = {},
): Promise<{ url: string; devices: Registry; readonly statuses: StatusRecorder; stop(): Promise<void> }> {
  const operator = await newOperator(t, options)
  const listening = await listen('operator', chain(operator.handler, operator.admin.handler), at)
  noteServer(listening.url, 'operator')
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= operator.stop(5_000).then(() => listening.close(100)))
  t.after(stop)
  return {
    url: listening.url,
    devices: operator.devices,
    // Throws without the option `status`.
    get statuses() {
      return operator.statuses
    },
    stop,
  }
}

export async function startPlatform(
  t: TestContext,
  { listen: at, ...options }: Partial<PlatformOptions> & { lanes: LaneOptions[]; listen?: ListenOptions },
): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await temporary(t)
  const platform = createPlatform({ store: `sqlite:${join(folder, 'platform.db')}`, keys: [adminKey], ...options })
  await platform.start()
  const listening = await listen('platform', chain(platform.handler, platform.admin.handler), at)
  noteServer(listening.url, 'platform')
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= platform.stop(5_000).then(() => listening.close(100)))
  t.after(stop)
  return { url: listening.url, stop }
}

/** A lane of brand 1 that sends batches of pushes with short waits. */
export const laneTo = (provider: LaneOptions['provider'], over: Partial<LaneOptions> = {}): LaneOptions => ({
  brand: '1',
  channel: 'push',
  mode: 'batch',
  provider,
  spanMs: 5,
  retry: { firstMs: 20, mostMs: 100 },
  ...over,
})

let nextId = 1

/** A request element with a new activity.id. */
export function element(
  over: Readonly<Record<string, unknown>> = {},
  beside: Readonly<Record<string, unknown>> = {},
): { activity: Record<string, unknown> } & Record<string, unknown> {
  return {
    activity: {
      id: nextId++,
      brand_id: 1,
      user_id: '1001',
      activity_id: 7,
      action_group_id: 8,
      trigger_hash: 'hash',
      action_id: 9,
      ...over,
    },
    title: 'Hello',
    body: 'There',
    ...beside,
  }
}

/** Request elements that differ only in their activity.id. */
export const elements = (count: number, ...given: Parameters<typeof element>) =>
  Array.from({ length: count }, () => element(...given))

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read any part of an answer
  readonly body: any
  readonly text: string
}

/** POSTs a string or bytes unchanged, or any other value as JSON, and reads the answer. */
export const post = (
  url: string,
  body: unknown,
  key: string | undefined = keys.both.key,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  call(
    'POST',
    url,
    { 'content-type': 'application/json', ...(key !== undefined && { 'x-api-key': key }), ...headers },
    typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  )

export const get = (url: string, key: string = adminKey.key): Promise<Answer> => call('GET', url, { 'x-api-key': key })

/** With half of the processor time of fetch(). */
async function call(
  method: 'GET' | 'POST',
  url: string,
  headers: Record<string, string>,
  sent?: string | Uint8Array,
): Promise<Answer> {
  const limits = { headersTimeout: 30_000, bodyTimeout: 30_000 }
  const answer = await request(url, { method, headers, ...(sent !== undefined && { body: sent }), ...limits })
  const text = await answer.body.text()
  const body = text === '' ? undefined : JSON.parse(text)
  await checkDocumented(method, url, answer.statusCode, body)
  const received = new Headers(answer.headers as Record<string, string>)
  return { status: answer.statusCode, headers: received, text, body }
}

/** Enqueues records at a platform. */
export const enqueueAt = (url: string, records: unknown, channel = 'push'): Promise<Answer> =>
  post(`${url}/admin/activities/${channel}`, records, adminKey.key)

/** Waits until a platform has no message that waits. */
export const untilSettled = (url: string, withinMs = 20_000): Promise<true> =>
  until(async () => (await get(`${url}/admin/summary`)).body.waiting === 0, { awaited: 'no message waits', withinMs })
