// Sends statuses by calls of a form that the settings describe, for a platform that is not ours. The HTTP provider's engine makes the
// calls (src/subjects/providers/http).

import { createMisconfigurationAlert } from '../../../base/runtime/misconfiguration-alert.ts'
import type { Channel } from '../../../contract/endpoints.ts'
import { memberTexts } from '../../../contract/members.ts'
import { textAt } from '../../../contract/pointer.ts'
import { readSingle } from '../../../contract/read-activity.ts'
import { sourceOf } from '../../../contract/source.ts'
import type { MessageStatus } from '../../../contract/status.ts'
import type { StatusRecord } from '../../../contract/status-record.ts'
import { rfc3339 } from '../../../contract/timestamp.ts'
import { conversionKeys } from '../../../contract/vendor-callback.ts'
import type { HttpOptions } from '../../providers/http/options.ts'
import type { Rule } from '../../providers/http/rules.ts'
import { createSender } from '../../providers/http/sender.ts'
import type { FindValue, Value } from '../../providers/http/template.ts'
import { activityValues, digits, text } from '../../providers/http/values.ts'
import type { StatusSender } from '../status-sender.ts'

export interface StatusTemplateOptions extends Omit<HttpOptions, 'preset' | 'userId' | 'overrides' | 'perSecond'> {
  /** The statuses that the platform knows, each with its word for it. Default: all, with our words. */
  readonly statuses?: readonly { readonly status: MessageStatus; readonly as?: string | undefined }[]
  /** Only the statuses of this channel are sent. Default: both. */
  readonly channel?: Channel | undefined
  /** A status whose meta was erased is not sent. Default: it is sent without. */
  readonly needsMeta?: true
}

/** Row 19. */
const rules: readonly Rule[] = [
  { when: { status: '2xx' }, means: 'successful' },
  { when: { status: ['400', '413', '422'] }, means: 'failed' },
  { when: { status: ['401', '403', '404', '405'] }, means: 'misconfigured', reason: 'correct the address or the key' },
  { when: {}, means: 'fatal' },
]

/**
 * @example
 * statusTemplate({
 *   url: 'https://crm.example/messages/{{push_id}}/events',
 *   method: 'PUT',
 *   auth: { kind: 'bearer', token: '…' },
 *   body: { event: '{{status}}', at: '{{timestamp}}', campaign: '{{meta/campaign}}' },
 *   statuses: [{ status: 'opened', as: 'read' }, { status: 'clicked' }],
 * })
 */
export function statusTemplate(options: StatusTemplateOptions): StatusSender {
  const { statuses = [], channel, needsMeta, name = 'template', concurrency = 4 } = options
  const words = new Map(statuses.map(({ status, as = status }) => [status, as]))
  const sender = createSender({ ...options, name, concurrency }, 'status', rules)
  const alert = createMisconfigurationAlert(
    `delivery statuses by ${name}`,
    'correct operator.status.webhooks[].to; waiting statuses are then sent automatically',
  )
  return {
    name,
    max: 1,
    concurrency,
    supports: (status) => words.size === 0 || words.has(status),
    async send([record], context) {
      const { ref, status, meta, channel: ofRecord } = record as StatusRecord
      if ((channel !== undefined && channel !== ofRecord) || (needsMeta && meta === null))
        return [{ category: 'successful', rule: 'row 24: not for this webhook' }]
      const values = valuesOf(record as StatusRecord, words.get(status) ?? status)
      const outcome = await sender.send({ values, ref, id: `${ref}.${status}`, hidden: [] }, context)
      alert(outcome)
      return [outcome]
    },
    close: sender.close,
  }
}

function valuesOf({ channel, ref, at, meta }: StatusRecord, word: string): FindValue {
  const members = memberTexts(sourceOf(meta ?? '{}'))
  const read = readSingle(meta ?? '{}')
  const activity = 'invalid' in read ? undefined : read
  const ofActivity = activityValues(activity)
  return (name) => {
    switch (name) {
      case 'push_id':
        return text(ref)
      case 'channel':
        return text(channel)
      case 'status':
        return text(word)
      case 'timestamp':
        return text(rfc3339(at))
      case 'timestamp_seconds':
        return digits(String(Math.floor(Date.parse(rfc3339(at)) / 1_000)))
      case 'brand':
        return digits(activity?.brandId)
      case 'user_id':
        return text(activity?.userId)
      case 'activity':
      case 'headers':
      case 'meta':
        return json(members.get(name))
      case 'conversion_keys':
        return meta === null ? undefined : json(conversionKeys(meta))
      default:
        return name.startsWith('meta/') ? json(textAt(members, `/${name}`)) : ofActivity(name)
    }
  }
}

/** A JSON value, which a longer text contains without quotes. */
function json(given: string | undefined): Value | undefined {
  if (given === undefined || given === 'null') return undefined
  return { json: given, text: given.startsWith('"') ? (JSON.parse(given) as string) : given }
}
