import { type Refusal, refuseVapid, type VapidCheck } from './vapid.ts'

/** The message properties in the headers of a request. */
export interface MessageHeaders {
  /** Time to live in seconds. */
  readonly ttl: number
  readonly topic?: string
}

export type Headers = Readonly<Record<string, string>>

const longestSeconds = 2_419_200
const mostBytes = 4_096

/** Validates the headers of a message like a push service (RFC 8030 §5, RFC 8291 §4). */
export function readRequest(headers: Headers, bytes: number, vapid: VapidCheck): MessageHeaders | Refusal {
  const { ttl, topic, urgency = 'normal' } = headers
  if (bytes > mostBytes) return { status: 413, errno: 104, message: `the body is longer than ${mostBytes} bytes` }
  if (ttl === undefined) return { status: 400, errno: 111, message: 'the TTL header is missing' }
  if (!/^\d{1,10}$/.test(ttl)) return { status: 400, errno: 112, message: 'TTL is not a number of seconds' }
  if (topic !== undefined && !/^[A-Za-z0-9_-]{1,32}$/.test(topic))
    return { status: 400, errno: 113, message: 'Topic is not 1 to 32 characters of base64url' }
  if (!['very-low', 'low', 'normal', 'high'].includes(urgency))
    return { status: 400, errno: 111, message: 'Urgency is none of very-low, low, normal, high' }
  if (bytes > 0 && headers['content-encoding'] !== 'aes128gcm')
    return { status: 400, errno: 110, message: 'Content-Encoding is not aes128gcm' }
  const refused = refuseVapid(headers.authorization, vapid)
  if (refused) return refused
  return { ttl: Math.min(Number(ttl), longestSeconds), ...(topic !== undefined && { topic }) }
}
