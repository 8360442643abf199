// Requests that are prepared before the measurement. Only the digits of activity.id change, in place.

export interface RequestKind {
  readonly path: string
  readonly host: string
  readonly apiKey: string
  /** Messages in a request; 0: a single send. */
  readonly batch: number
  /** Approximate bytes of one message. */
  readonly itemBytes: number
}

export interface Template {
  readonly bytes: Buffer
  /** The offset of each message's 13 digits. */
  readonly idsAt: readonly number[]
  readonly messages: number
}

const idDigits = 13
const idPlace = '#'.repeat(idDigits)
export const firstId = 10 ** (idDigits - 1)

/** One activity record (§2.1) as text. Users 1…1000 exist in both brands. */
export function activityRecord(id: string, n: number, bytes: number): string {
  const user = String((n % 1000) + 1).padStart(4, '0')
  const activity = `{"id":${id},"brand_id":${(n % 2) + 1},"user_id":"${user}","activity_id":4711,"action_group_id":12,"trigger_hash":"9f86d081884c7d65","action_id":34}`
  const head = `{"activity":${activity},"title":"Your order is on its way","url":"https://shop.example/orders","body":"`
  return `${head}${filler.slice(0, Math.max(0, bytes - head.length - 2))}"}`
}
const filler = 'It left our house this morning and should be with you before the evening. '.repeat(60)

/** One template per connection: it is overwritten only while that connection has no request in flight. */
export function requestTemplate(kind: RequestKind, connection: number): Template {
  const messages = Math.max(1, kind.batch)
  const records = Array.from({ length: messages }, (_, i) =>
    activityRecord(idPlace, connection * messages + i, kind.itemBytes),
  )
  const body = kind.batch ? `[${records.join(',')}]` : (records[0] as string)
  const head = [
    `POST ${kind.path} HTTP/1.1`,
    `Host: ${kind.host}`,
    'Content-Type: application/json',
    `X-Api-Key: ${kind.apiKey}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '\r\n',
  ].join('\r\n')
  const bytes = Buffer.from(head + body, 'latin1')
  const idsAt: number[] = []
  for (let at = bytes.indexOf(idPlace); at >= 0; at = bytes.indexOf(idPlace, at + idDigits)) idsAt.push(at)
  return { bytes, idsAt, messages }
}

/** Writes consecutive ids into the template, starting with `id`. */
export function fillIds(template: Template, id: number): void {
  const { bytes, idsAt } = template
  // Two halves of 32 bits each: dividing small integers is several times cheaper.
  let high = Math.floor(id / 1e6)
  let low = id % 1e6
  for (let i = 0; i < idsAt.length; i++) {
    const at = idsAt[i] as number
    writeDigits(bytes, at, high, idDigits - 6)
    writeDigits(bytes, at + idDigits - 6, low, 6)
    if (++low === 1e6) {
      low = 0
      high++
    }
  }
}

function writeDigits(bytes: Buffer, at: number, value: number, count: number): void {
  let rest = value
  for (let i = at + count - 1; i >= at; i--) {
    const next = (rest / 10) | 0
    bytes[i] = 48 + rest - next * 10
    rest = next
  }
}
