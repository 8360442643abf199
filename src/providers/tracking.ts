import { trackingHeaders } from '../contract/endpoints.ts'
import { readSingle } from '../contract/read-activity.ts'
import type { Message } from './provider.ts'

/**
 * The headers in which a single request says where its message comes from (row 25): what the message brings along, else
 * from its activity record, digit by digit. The same on each attempt.
 *
 * @example trackingOf(message) // { 'x-fasttrack-id': '7', 'x-fasttrack-activityid': '5', … }
 */
export function trackingOf({ text, context: { tracking } }: Message): Record<string, string> {
  const record = readSingle(text)
  const known: Partial<Record<(typeof trackingHeaders)[number], string | null>> =
    'invalid' in record
      ? {}
      : {
          'x-fasttrack-id': record.id,
          'x-fasttrack-triggerhash': record.triggerHash,
          'x-fasttrack-activityid': record.activityId,
          'x-fasttrack-actionid': record.actionId,
          'x-fasttrack-actiongroupid': record.actionGroupId,
        }
  const headers: Record<string, string> = {}
  for (const name of trackingHeaders) {
    const value = tracking?.[name] ?? known[name]
    // What cannot stand in a header stands in the body all the same.
    if (typeof value === 'string' && fieldValue.test(value)) headers[name] = value
  }
  return headers
}

/**
 * RFC 9110 §5.5: visible ASCII, spaces and tabs within. Not its obs-text: bytes beyond ASCII have no agreed character set, so the
 * other side would read another text.
 */
const fieldValue = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/
