// The status callback of the interface's vendor, published for its own Firebase push only (public facts): one call for each status,
// with HTTP Basic authentication.

import type { Channel } from './endpoints.ts'
import { isRawJson, parseExactly } from './exact-json.ts'
import { readSingle } from './read-activity.ts'
import type { MessageStatus } from './status.ts'

/** The vendor's words. It knows no others, and they are for push only. */
const actions: Readonly<Partial<Record<MessageStatus, string>>> = {
  delivered: 'delivered',
  opened: 'read',
  clicked: 'clicked',
}

/** Whether the vendor knows this status. */
export const isVendorStatus = (status: MessageStatus): boolean => actions[status] !== undefined

const prefix = 'conversion_fasttrack_'

/**
 * The body of a call. The metadata are those of the request's `meta` that have the vendor's prefix, else they come from the tracking
 * headers, else from the activity record, with all digits.
 *
 * @param meta the meta of row 25 as JSON text
 * @returns undefined if the vendor does not know the status, or not for the channel, or if the meta was erased
 */
export function vendorCallbackBody(channel: Channel, status: MessageStatus, meta: string | null): string | undefined {
  const action = actions[status]
  if (action === undefined || channel !== 'push' || meta === null) return undefined
  return JSON.stringify({ action, metadata: metadataOf(meta) })
}

function metadataOf(meta: string): Record<string, unknown> {
  const record = readSingle(Buffer.from(meta))
  const { headers = {}, meta: own } = parseExactly(meta) as {
    readonly headers?: Readonly<Record<string, string>>
    readonly meta?: unknown
  }
  const known = 'invalid' in record ? undefined : record
  const values: Readonly<Record<string, string | null | undefined>> = {
    triggerhash: headers['x-fasttrack-triggerhash'] ?? known?.triggerHash,
    id: headers['x-fasttrack-id'] ?? known?.id,
    activityid: headers['x-fasttrack-activityid'] ?? known?.activityId,
    actionid: headers['x-fasttrack-actionid'] ?? known?.actionId,
    actiongroupid: headers['x-fasttrack-actiongroupid'] ?? known?.actionGroupId,
    actioncommunicationprofileid: headers['x-fasttrack-actioncommunicationprofileid'],
    userid: known?.userId,
  }
  const metadata: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(values))
    if (typeof value === 'string') metadata[`${prefix}${name}`] = value
  if (typeof own === 'object' && own !== null)
    for (const [name, value] of Object.entries(own))
      if (name.startsWith(prefix) && isScalar(value)) metadata[name] = value
  return metadata
}

/** Numbers keep all digits. */
const isScalar = (value: unknown): boolean => ['string', 'number'].includes(typeof value) || isRawJson(value)
