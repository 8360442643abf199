import { trackingHeaders } from '../../contract/endpoints.ts'
import { readSingle } from '../../contract/read-activity.ts'
import type { Message } from './provider.ts'

/**
 * The tracking headers of a single request (row 25). Their values come from the message's context, else from its activity record
 * with all digits kept. They are the same on each attempt.
 *
 * @example trackingOf(message) // { 'x-fasttrack-id': '7', 'x-fasttrack-activityid': '5', … }
 */
export function trackingOf({ text, context: { tracking } }: Message): Record<string, string> {
  const record = readSingle(text)
  const fromRecord: Partial<Record<(typeof trackingHeaders)[number], string | null>> =
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
    const value = tracking?.[name] ?? fromRecord[name]
    // A value that is not valid in a header is left out; the body has it too.
    if (typeof value === 'string' && fieldValue.test(value)) headers[name] = value
  }
  return headers
}

/**
 * RFC 9110 §5.5: visible ASCII, with spaces and tabs inside. Not obs-text: bytes beyond ASCII have no agreed character set, so
 * the receiver could decode another text.
 */
const fieldValue = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/
