// Sends statuses by the callback of the interface's vendor, for a platform that is not ours: see contract/vendor-callback.ts.

import type { Outcome } from '../../contract/outcome.ts'
import type { StatusRecord } from '../../contract/status-record.ts'
import { isVendorStatus, vendorCallbackBody } from '../../contract/vendor-callback.ts'
import { callPlatform, type PostContext } from '../../http-client/call-platform.ts'
import { type ConnectionOptions, createCaller } from '../../http-client/caller.ts'
import { createMisconfigurationAlert } from '../../runtime/misconfiguration-alert.ts'
import type { StatusSender } from '../status-sender.ts'

export interface VendorCallbackOptions extends ConnectionOptions {
  /** The whole address, which ends with a slash: https://…/webhook/callback/firebase/ */
  readonly url: string
  readonly username?: string
  readonly password: string
  /** The most concurrent calls. Default: 4. */
  readonly connections?: number
}

const row = 24

/** @example vendorCallback({ url: 'https://platform.example/webhook/callback/firebase/', password: '…' }) */
export function vendorCallback(options: VendorCallbackOptions): StatusSender {
  const { username: user = 'fasttrack', password, connections = 4 } = options
  const caller = createCaller({ ...options, connections, auth: { kind: 'basic', user, password } })
  const alert = createMisconfigurationAlert(
    'delivery statuses by callback',
    'correct operator.status.webhooks[].to; waiting statuses are then sent automatically',
  )

  async function post({ channel, status, meta }: StatusRecord, context: PostContext): Promise<Outcome> {
    const body = vendorCallbackBody(channel, status, meta)
    if (body === undefined) return { category: 'successful', rule: `row ${row}: not in the vendor's dialect` }
    return callPlatform(caller, { body, row }, context)
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
    close: () => caller.destroy(),
  }
}
