// Reads the messages of brokers (§4.3) as links and unlinks, in the same way for every broker.

import type { Received } from '../../base/brokers/consumer.ts'
import type { Reading } from '../../base/brokers/take-messages.ts'
import { readDeviceEvent } from '../../contract/device-events.ts'
import { deviceMessageType } from '../../contract/endpoints.ts'
import { type DeviceEvent, eventsOf, type Judge } from './device-event.ts'

/** The brand of the messages of a queue or topic (row 21): one brand for all, or a map from origin to brand. */
export type Brands = string | Readonly<Record<string, string>>

/** @returns the events of a message, or the reason why it is unreadable */
export function readLink(
  message: Received,
  { brands, judge }: { readonly brands: Brands; readonly judge?: Judge | undefined },
): Reading<readonly DeviceEvent[]> {
  const what = whatOf(message.type)
  if (typeof what === 'object') return { invalid: what.unknown }
  const record = readDeviceEvent(message.body)
  if (typeof record === 'string') return { invalid: record }
  const brand = typeof brands === 'string' ? brands : brandOf(brands, record.origin)
  if (brand === undefined) return { invalid: `origin ${JSON.stringify(record.origin)} has no brand: add it to origins` }
  const events = eventsOf(record, { what, brand, judge })
  return 'invalid' in events ? { invalid: events.invalid, brand } : { value: events, brand }
}

/** Row 18, row 22: the type must match exactly, except for its case. */
function whatOf(type: string | undefined): 'link' | 'unlink' | { readonly unknown: string } {
  const { link, unlink } = deviceMessageType
  if (type === undefined || type === '')
    return { unknown: `the message has no type: set its type to ${link} or ${unlink}` }
  const upper = type.toUpperCase()
  if (upper === link) return 'link'
  if (upper === unlink) return 'unlink'
  return { unknown: `the type ${JSON.stringify(type.slice(0, 60))} is not known: send ${link} or ${unlink}` }
}

function brandOf(brands: Readonly<Record<string, string>>, origin: string): string | undefined {
  return Object.hasOwn(brands, origin) ? brands[origin] : undefined
}
