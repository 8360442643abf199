import { type ReadItem, readBatch, readSingle } from '../../contract/read-activity.ts'
import type { FakeEndpoint } from './behaviour.ts'

/** The readable messages in the body of a request to an operator. */
export function messagesOf(
  endpoint: FakeEndpoint,
  body: Buffer,
): readonly { readonly id: string; readonly user: string }[] {
  if (endpoint === 'reconciliation') return []
  const items = endpoint.endsWith('single') ? [readSingle(body)] : itemsOf(body)
  return items.flatMap((item) => ('invalid' in item ? [] : [{ id: item.id, user: item.userId }]))
}

function itemsOf(body: Buffer): readonly ReadItem[] {
  const read = readBatch(body)
  return 'items' in read ? read.items : []
}
