// Sends statuses by the callback of the interface's vendor, for a platform that is not ours: see contract/vendor-callback.ts.

import { readDeviceAnswer, withoutAnswer } from '../../contract/device-answer.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { StatusRecord } from '../../contract/status-record.ts'
import { isVendorStatus, vendorCallbackBody } from '../../contract/vendor-callback.ts'
import { createMisconfigurationAlert } from '../../runtime/misconfiguration-alert.ts'
import { createJsonPoster, type PostContext } from '../../runtime/post-json.ts'
import type { StatusSender } from '../status-sender.ts'

export interface VendorCallbackOptions {
  /** The whole address, which ends with a slash: https://…/webhook/callback/firebase/ */
  readonly url: string
  readonly username?: string
  readonly password: string
  /** The most concurrent calls. Default: 4. */
  readonly connections?: number
}

const row = 24

/** @example vendorCallback({ url: 'https://platform.example/webhook/callback/firebase/', password: '…' }) */
export function vendorCallback({
  url,
  username = 'fasttrack',
  password,
  connections = 4,
}: VendorCallbackOptions): StatusSender {
  const { origin, pathname, search } = new URL(url)
  const poster = createJsonPoster(origin + search, connections)
  const headers = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
  const alert = createMisconfigurationAlert(
    'delivery statuses by callback',
    'correct operator.status.webhooks[].to; waiting statuses are then sent automatically',
  )

  async function post({ channel, status, meta }: StatusRecord, context: PostContext): Promise<Outcome> {
    const body = vendorCallbackBody(channel, status, meta)
    if (body === undefined) return { category: 'successful', rule: `row ${row}: not in the vendor's dialect` }
    const posted = await poster.post(pathname, body, headers, context)
    return 'lost' in posted ? withoutAnswer(posted.lost, posted.isLate, row) : readDeviceAnswer({ ...posted, row })
  }

  return {
    name: 'callback',
    max: 1,
    concurrency: connections,
    supports: isVendorStatus,
    async send([record], context) {
      const outcome = await post(record as StatusRecord, context)
      alert(outcome)
      return [outcome]
    },
    close: () => poster.close(),
  }
}
