// HTTP clients of both sides, without access to their internals.

import type { DeviceTokenRecord } from '../../contract/device-events.ts'
import type { AnswerOf } from '../../sides/admin/calls.ts'
import { campaignId } from './records.ts'
import type { Servers } from './servers.ts'

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

export interface InboxPage {
  readonly items: readonly { readonly site_notification_id: string; readonly id: string }[]
}

export interface Clients {
  enqueue(channel: 'push' | 'site', records: readonly object[]): Promise<Enqueued>
  outcomes(seqs: readonly number[]): Promise<readonly KnownOutcome[]>
  subscriberToken(brand: string, userId: string): Promise<{ readonly token: string }>
  /** Links a device as a user's app does after sign-in. */
  linkDevice(brand: string, userId: string, device: DeviceTokenRecord): Promise<void>
  /** Undefined if the operator keeps the user's inbox closed. */
  inbox(brand: string, userId: string): Promise<InboxPage | undefined>
  lanes(): Promise<AnswerOf<'platform', 'GET /admin/lanes'>>
  operatorSummary(): Promise<AnswerOf<'operator', 'GET /admin/summary'>>
  /** Cancels the messages of the campaign that wait. */
  cancelCampaign(): Promise<unknown>
}

export function createClients({ operator, platform }: Pick<Servers, 'operator' | 'platform'>): Clients {
  const platformHeaders = { 'x-api-key': platform.adminKey }
  const operatorHeaders = { 'x-api-key': operator.adminKey }
  const clients: Clients = {
    enqueue: (channel, records) =>
      request(
        `${platform.url}/admin/activities/${channel}`,
        { ...platformHeaders, 'content-type': 'application/x-ndjson' },
        records.map((record) => JSON.stringify(record)).join('\n'),
      ),
    async outcomes(seqs) {
      const { outcomes } = await request<{ outcomes: KnownOutcome[] }>(
        `${platform.url}/admin/outcomes`,
        platformHeaders,
        JSON.stringify({ seqs }),
      )
      return outcomes
    },
    subscriberToken: (brand, userId) =>
      request(`${operator.url}/admin/subscriber-tokens`, operatorHeaders, JSON.stringify({ brand, user_id: userId })),
    async linkDevice(brand, userId, device) {
      const { token } = await clients.subscriberToken(brand, userId)
      await request(
        `${operator.url}/app/devices/link`,
        { authorization: `Bearer ${token}` },
        JSON.stringify({ tokens: [device] }),
      )
    },
    async inbox(brand, userId) {
      const { token } = await clients.subscriberToken(brand, userId)
      try {
        return await request(`${operator.url}/app/inbox?limit=100`, { authorization: `Bearer ${token}` })
      } catch (error) {
        if (error instanceof HttpError && error.status === 403) return undefined
        throw error
      }
    },
    lanes: () => request(`${platform.url}/admin/lanes`, platformHeaders),
    operatorSummary: () => request(`${operator.url}/admin/summary`, operatorHeaders),
    cancelCampaign: () =>
      request(
        `${platform.url}/admin/lanes/cancel`,
        platformHeaders,
        JSON.stringify({ lane: '2/push', activity: String(campaignId), reason: 'the button of the demo' }),
      ),
  }
  return clients
}

export class HttpError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

async function request<Answer>(url: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Answer> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    signal: AbortSignal.timeout(10_000),
    ...(body !== undefined && { body }),
  })
  const answer = (await response.json()) as Answer & { error?: string }
  if (!response.ok) throw new HttpError(response.status, answer.error ?? `${url} answered ${response.status}`)
  return answer
}
