// Sends statuses by webhook (row 24): POST {platform_url}/v1/integration/message/status, signed by Standard Webhooks.

import { createHash } from 'node:crypto'
import { callPlatform, type PostContext } from '../../../base/http-client/call-platform.ts'
import { type AddressOptions, createCaller } from '../../../base/http-client/caller.ts'
import { byOption, checkOptions } from '../../../base/runtime/check-options.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { createMisconfigurationAlert } from '../../../base/runtime/misconfiguration-alert.ts'
import { apiKeyHeaders, messageStatusPath } from '../../../contract/endpoints.ts'
import type { Outcome } from '../../../contract/outcome.ts'
import { mostStatusBytes, type StatusRecord, statusRecordJson } from '../../../contract/status-record.ts'
import { signWebhook, webhookKey } from '../../../contract/webhook-signature.ts'
import { addressOptions } from '../../settings/option-checks.ts'
import { webhookSettings } from '../../settings/status.ts'
import type { StatusSender } from '../status-sender.ts'

export interface StatusWebhookOptions extends AddressOptions {
  /** {platform_url} of §4.2. May contain a path. */
  readonly url: string
  /** The signing secrets, `whsec_…`. Each call is signed with all of them: two during a rotation. */
  readonly secrets: readonly string[]
  /** An API key for a platform that needs one in addition, sent as X-Api-Key. */
  readonly apiKey?: string | undefined
  /** The most records in one call. 1: each body is one record; otherwise it is an array. Default: 100. */
  readonly max?: number
  /** The most concurrent calls. Default: 4. */
  readonly connections?: number
}

const row = 24
/** The receiver accepts more, so that a single long record passes. */
const mostBodyBytes = mostStatusBytes / 4
const known = { ...byOption(webhookSettings), ...addressOptions }
/** @example statusWebhook({ url: 'https://platform.example', secrets: ['whsec_…'] }) */
export function statusWebhook(options: StatusWebhookOptions): StatusSender {
  const { secrets, apiKey, max = 100, connections = 4 } = options
  checkOptions('statusWebhook', options, known)
  const keys = secrets.map((secret) => webhookKey(secret) as Buffer)
  const caller = createCaller({ ...options, connections, headers: apiKeyHeaders(apiKey) })
  const alert = createMisconfigurationAlert(
    'delivery statuses by webhook',
    'correct operator.status.webhooks[].to; waiting statuses are then sent automatically',
  )

  async function post(records: readonly StatusRecord[], body: string, context: PostContext): Promise<Outcome> {
    const headers = signWebhook(keys, callId(records), body, clock.now())
    const outcome = await callPlatform(caller, { path: messageStatusPath, body, headers, row }, context)
    // One of the records is wrong: the lane splits the call until that record is alone.
    if (outcome.category !== 'failed' || records.length === 1) return outcome
    return { ...outcome, category: 'fatal', blame: 'call' }
  }

  return {
    name: 'webhook',
    max,
    concurrency: connections,
    supports: () => true,
    async send(records, context) {
      const outcomes: Outcome[] = []
      for (const part of cutBodies(records)) {
        const before = outcomes.at(-1)
        const body = max === 1 ? (part.texts[0] as string) : `[${part.texts.join(',')}]`
        const outcome = before?.category === 'fatal' ? before : await post(part.records, body, context)
        alert(outcome)
        outcomes.push(...part.records.map(() => outcome))
      }
      return outcomes
    },
    close: () => caller.destroy(),
  }
}

/** The id of a call: the same whenever the same statuses are sent together. */
function callId(records: readonly StatusRecord[]): string {
  const hash = createHash('sha256')
  for (const { ref, status } of records) hash.update(`${ref} ${status}\n`)
  return `msg_${hash.digest('base64url').slice(0, 27)}`
}

function cutBodies(records: readonly StatusRecord[]): { records: StatusRecord[]; texts: string[] }[] {
  const parts: { records: StatusRecord[]; texts: string[] }[] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const record of records) {
    const text = statusRecordJson(record)
    const more = Buffer.byteLength(text)
    if (bytes + more > mostBodyBytes) {
      parts.push({ records: [], texts: [] })
      bytes = 0
    }
    bytes += more
    const part = parts.at(-1)
    part?.records.push(record)
    part?.texts.push(text)
  }
  return parts
}
