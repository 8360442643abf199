// HTTP clients of both sides, without access to their internals.

import type { DeviceTokenRecord } from '../../contract/device-events.ts'
import type { AnswerOf } from '../../sides/admin/calls.ts'
import { type Channel, campaignId } from './records.ts'
import type { Servers } from './servers.ts'

export type KnownOutcome = AnswerOf<'platform', 'POST /admin/outcomes'>['outcomes'][number]

interface InboxPage {
  readonly items: readonly { readonly site_notification_id: string; readonly id: string }[]
}

export type Clients = ReturnType<typeof createClients>

export function createClients({ operator, platform }: Pick<Servers, 'operator' | 'platform'>) {
  const platformHeaders = { 'x-api-key': platform.adminKey }
  const operatorHeaders = { 'x-api-key': operator.adminKey }
  const subscriberToken = (brand: string, userId: string) =>
    request<{ readonly token: string }>(
      `${operator.url}/admin/subscriber-tokens`,
      operatorHeaders,
      JSON.stringify({ brand, user_id: userId }),
    )
  return {
    subscriberToken,
    enqueue: (channel: Channel, records: readonly object[]) =>
      request<AnswerOf<'platform', 'POST /admin/activities/:channel'>>(
        `${platform.url}/admin/activities/${channel}`,
        { ...platformHeaders, 'content-type': 'application/x-ndjson' },
        records.map((record) => JSON.stringify(record)).join('\n'),
      ),
    async outcomes(seqs: readonly number[]): Promise<readonly KnownOutcome[]> {
      const { outcomes } = await request<{ outcomes: KnownOutcome[] }>(
        `${platform.url}/admin/outcomes`,
        platformHeaders,
        JSON.stringify({ seqs }),
      )
      return outcomes
    },
    /** Links a device as a user's app does after sign-in. */
    async linkDevice(brand: string, userId: string, device: DeviceTokenRecord): Promise<void> {
      const { token } = await subscriberToken(brand, userId)
      await request(
        `${operator.url}/app/devices/link`,
        { authorization: `Bearer ${token}` },
        JSON.stringify({ tokens: [device] }),
      )
    },
    /** Undefined if the operator keeps the user's inbox closed. */
    async inbox(brand: string, userId: string): Promise<InboxPage | undefined> {
      const { token } = await subscriberToken(brand, userId)
      try {
        return await request(`${operator.url}/app/inbox?limit=100`, { authorization: `Bearer ${token}` })
      } catch (error) {
        if (error instanceof HttpError && error.status === 403) return undefined
        throw error
      }
    },
    lanes: () => request<AnswerOf<'platform', 'GET /admin/lanes'>>(`${platform.url}/admin/lanes`, platformHeaders),
    operatorSummary: () =>
      request<AnswerOf<'operator', 'GET /admin/summary'>>(`${operator.url}/admin/summary`, operatorHeaders),
    /** Cancels the messages of the campaign that wait. */
    cancelCampaign: () =>
      request<unknown>(
        `${platform.url}/admin/lanes/cancel`,
        platformHeaders,
        JSON.stringify({ lane: '2/push', activity: String(campaignId), reason: 'the button of the demo' }),
      ),
  }
}

class HttpError extends Error {
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
