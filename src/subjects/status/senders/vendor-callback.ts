// The status callback of the interface's vendor, published for its own Firebase push only: a template with the vendor's words.

import type { AuthOptions } from '../../../base/http-client/auth.ts'
import type { ConnectionOptions } from '../../../base/http-client/caller.ts'
import type { StatusSender } from '../status-sender.ts'
import { statusTemplate } from './template.ts'

export interface VendorCallbackOptions extends ConnectionOptions {
  /** The whole address, which ends with a slash: https://…/webhook/callback/firebase/ */
  readonly url: string
  readonly auth: AuthOptions
  /** The most concurrent calls. Default: 4. */
  readonly connections?: number
}

/** @example vendorCallback({ url: 'https://platform.example/webhook/callback/firebase/', auth: { kind: 'basic', user: 'fasttrack', password: '…' } }) */
export function vendorCallback(options: VendorCallbackOptions): StatusSender {
  const { connections = 4, ...address } = options
  return statusTemplate({
    ...address,
    name: 'callback',
    concurrency: connections,
    channel: 'push',
    needsMeta: true,
    statuses: [{ status: 'delivered' }, { status: 'opened', as: 'read' }, { status: 'clicked' }],
    body: { action: '{{status}}', metadata: '{{conversion_keys}}' },
  })
}
