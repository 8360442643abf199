import { type Static, Type } from 'typebox'
import { nullable } from '../../contract/documents/described.ts'
import type { ChangedRow, Row } from './store.ts'

const time = Type.String({ format: 'date-time' })

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
    created_at: time,
    expires_at: nullable(time),
    seen_at: nullable(time),
    read_at: nullable(time),
    clicked_at: nullable(time),
    dismissed_at: nullable(time),
    archived_at: nullable(time),
  },
  { $id: 'Notification' },
)

/** The JSON text of a Notification. `data` is copied as text, so that long numbers keep their digits. */
export function notificationJson(row: Omit<Row, 'seq'> | ChangedRow): string {
  const json = JSON.stringify({
    site_notification_id: row.ref,
    id: row.id,
    title: row.title,
    body: row.body,
    image_url: row.image_url,
    url: row.url,
    created_at: timeOf(row.created_at) as string,
    expires_at: timeOf(row.expires_at),
    seen_at: timeOf(row.seen_at),
    read_at: timeOf(row.read_at),
    clicked_at: timeOf(row.clicked_at),
    dismissed_at: timeOf(row.dismissed_at),
    archived_at: timeOf(row.archived_at),
  } satisfies Omit<Static<typeof Notification>, 'data'>)
  return `${json.slice(0, -1)},"data":${row.data ?? 'null'}}`
}

function timeOf(at: number | null): string | null {
  return at === null ? null : new Date(Number(at)).toISOString()
}

/** Encodes an event of the stream. `seq` becomes the browser's Last-Event-ID. */
export function encodeEvent(event: 'notification' | 'counts' | 'ready' | 'reset', seq: number, data = '{}'): Buffer {
  // JSON text has no raw line breaks, so one data line is enough.
  return Buffer.from(`id: ${seq}\nevent: ${event}\ndata: ${data}\n\n`)
}
