import type { NewNotification, Row } from './store.ts'

/** The JSON form of a notification, in the list and in the stream. */
export interface Notification {
  /** The same on every attempt: a client that receives it twice must show it once. */
  readonly site_notification_id: string
  /** activity.id (§2.1) as text: JavaScript numbers end at 2^53. */
  readonly id: string
  readonly title: string | null
  readonly body: string | null
  readonly image_url: string | null
  readonly url: string | null
  readonly data: object | null
  /** ISO 8601, UTC. */
  readonly created_at: string
}

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
  })
  return `${json.slice(0, -1)},"data":${row.data ?? 'null'}}`
}

/** Encodes an event of the stream. `seq` becomes the browser's Last-Event-ID. */
export function encodeEvent(event: 'notification' | 'ready' | 'reset', seq: number, data = '{}'): Buffer {
  // JSON text has no raw line breaks, so one data line is enough.
  return Buffer.from(`id: ${seq}\nevent: ${event}\ndata: ${data}\n\n`)
}
