// Both sides as the demo calls them: over HTTP, like anybody else.

import type { DeviceTokenRecord } from '../contract/device-events.ts'
import type { World } from './world.ts'

export interface Enqueued {
  readonly accepted: number
  readonly refused: readonly { readonly line: number; readonly error: string }[]
  readonly seqs: readonly (readonly [number, number])[]
}

export interface KnownOutcome {
  readonly seq: number
  readonly category: 'successful' | 'failed' | 'waiting'
  readonly ref?: string
  readonly reason?: string
  readonly error?: string
}

export interface Listed {
  readonly items: readonly { readonly site_notification_id: string; readonly id: string }[]
}

export interface Clients {
  enqueue(channel: 'push' | 'site', records: readonly object[]): Promise<Enqueued>
  outcomes(seqs: readonly number[]): Promise<readonly KnownOutcome[]>
  subscriberToken(brand: string, userId: string): Promise<{ readonly token: string }>
  /** As a user's app does it, where they have just signed in. */
  linkDevice(brand: string, userId: string, device: DeviceTokenRecord): Promise<void>
  /** Undefined where the operator does not open this user's inbox. */
  inbox(brand: string, userId: string): Promise<Listed | undefined>
}

export function createClients({ operator, platform }: Pick<World, 'operator' | 'platform'>): Clients {
  const atPlatform = { 'x-api-key': platform.adminKey }
  const atOperator = { 'x-api-key': operator.adminKey }
  const clients: Clients = {
    enqueue: (channel, records) =>
      ask(
        `${platform.url}/admin/activities/${channel}`,
        { ...atPlatform, 'content-type': 'application/x-ndjson' },
        records.map((record) => JSON.stringify(record)).join('\n'),
      ),
    async outcomes(seqs) {
      const { outcomes } = await ask<{ outcomes: KnownOutcome[] }>(
        `${platform.url}/admin/outcomes`,
        atPlatform,
        JSON.stringify({ seqs }),
      )
      return outcomes
    },
    subscriberToken: (brand, userId) =>
      ask(`${operator.url}/admin/subscriber-tokens`, atOperator, JSON.stringify({ brand, user_id: userId })),
    async linkDevice(brand, userId, device) {
      const { token } = await clients.subscriberToken(brand, userId)
      await ask(
        `${operator.url}/app/devices/link`,
        { authorization: `Bearer ${token}` },
        JSON.stringify({ tokens: [device] }),
      )
    },
    async inbox(brand, userId) {
      const { token } = await clients.subscriberToken(brand, userId)
      try {
        return await ask(`${operator.url}/app/inbox?limit=100`, { authorization: `Bearer ${token}` })
      } catch (error) {
        if (error instanceof Refused && error.status === 403) return undefined
        throw error
      }
    },
  }
  return clients
}

export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

async function ask<Answer>(url: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Answer> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    signal: AbortSignal.timeout(10_000),
    ...(body !== undefined && { body }),
  })
  const answer = (await response.json()) as Answer & { error?: string }
  if (!response.ok) throw new Refused(response.status, answer.error ?? `${url} answered ${response.status}`)
  return answer
}
