// The keys of a conversion by which the interface's vendor knows a message in its status callback (public facts).

import { isRawJson, parseExactly } from './exact-json.ts'
import { readSingle } from './read-activity.ts'

const prefix = 'conversion_fasttrack_'

/**
 * The conversion keys as a JSON object: those of the request's `meta` that have the vendor's prefix, else from the tracking headers,
 * else from the activity record, with all digits.
 *
 * @param meta the meta of row 25 as JSON text
 */
export const conversionKeys = (meta: string): string => JSON.stringify(keysOf(meta))

function keysOf(meta: string): Record<string, unknown> {
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
