import { type Static, Type } from 'typebox'
import { nullable } from '../contract/documents/described.ts'
import type { NewNotification, Row } from './store.ts'

/** The JSON form of a notification, in the list and in the stream. */
export const Notification = Type.Object(
  {
    site_notification_id: Type.String({ description: 'The same on every attempt: show it once' }),
    /** As text: JavaScript numbers end at 2^53. */
    id: Type.String({ description: 'activity.id' }),
    title: nullable(Type.String()),
    body: nullable(Type.String()),
    image_url: nullable(Type.String()),
    url: nullable(Type.String()),
    data: nullable(Type.Object({})),
    created_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'Notification' },
)

/** The JSON text of a Notification. `data` is copied as text, so that long numbers keep their digits. */
export function notificationJson(row: Omit<Row, 'seq'> | NewNotification): string {
  const json = JSON.stringify({
    site_notification_id: row.ref,
    id: row.id,
    title: row.title,
    body: row.body,
    image_url: row.image_url,
    url: row.url,
    created_at: new Date(Number(row.created_at)).toISOString(),
  } satisfies Omit<Static<typeof Notification>, 'data'>)
  return `${json.slice(0, -1)},"data":${row.data ?? 'null'}}`
}

/** Encodes an event of the stream. `seq` becomes the browser's Last-Event-ID. */
export function encodeEvent(event: 'notification' | 'ready' | 'reset', seq: number, data = '{}'): Buffer {
  // JSON text has no raw line breaks, so one data line is enough.
  return Buffer.from(`id: ${seq}\nevent: ${event}\ndata: ${data}\n\n`)
}
