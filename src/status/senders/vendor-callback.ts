// The status callback of the interface's vendor, published for its own Firebase push only: a template with the vendor's words.

import type { ConnectionOptions } from '../../http-client/caller.ts'
import type { StatusSender } from '../status-sender.ts'
import { statusTemplate } from './template.ts'

export interface VendorCallbackOptions extends ConnectionOptions {
  /** The whole address, which ends with a slash: https://…/webhook/callback/firebase/ */
  readonly url: string
  readonly username?: string
  readonly password: string
  /** The most concurrent calls. Default: 4. */
  readonly connections?: number
}

/** @example vendorCallback({ url: 'https://platform.example/webhook/callback/firebase/', password: '…' }) */
export function vendorCallback(options: VendorCallbackOptions): StatusSender {
  const { username: user = 'fasttrack', password, connections = 4, ...address } = options
  return statusTemplate({
    ...address,
    name: 'callback',
    concurrency: connections,
    auth: { kind: 'basic', user, password },
    channel: 'push',
    needsMeta: true,
    statuses: [{ status: 'delivered' }, { status: 'opened', as: 'read' }, { status: 'clicked' }],
    body: { action: '{{status}}', metadata: '{{conversion_keys}}' },
  })
}
