import { Pool } from 'undici'
import { benchKey } from './bench-key.ts'
import { activityRecord, firstId } from './requests.ts'

export interface NdjsonSender {
  /** Makes the requests for this number of records; send() sends them. */
  prepare(records: number): readonly Buffer[]
  send(requests: readonly Buffer[]): Promise<void>
  close(): Promise<void>
}

/** The same as in `bellwire send`: 1,000 lines per request, four requests at a time. */
const linesInRequest = 1_000
const parallel = 4

export function ndjsonSender(port: number): NdjsonSender {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: parallel })
  let next = firstId
  const post = async (body: Buffer): Promise<void> => {
    const response = await pool.request({
      method: 'POST',
      path: '/admin/activities/push',
      headers: { 'content-type': 'application/x-ndjson', 'x-api-key': benchKey },
      body,
    })
    const answer = (await response.body.json()) as { accepted?: number }
    if (answer.accepted !== linesInRequest)
      throw new Error(`the platform answered ${JSON.stringify(answer).slice(0, 300)}`)
  }
  return {
    prepare(records) {
      return Array.from({ length: Math.ceil(records / linesInRequest) }, () => {
        const lines = Array.from({ length: linesInRequest }, () => activityRecord(String(next++), next, 400))
        return Buffer.from(`${lines.join('\n')}\n`)
      })
    },
    async send(requests) {
      const waiting = requests.values()
      await Promise.all(
        Array.from({ length: parallel }, async () => {
          for (const body of waiting) await post(body)
        }),
      )
    },
    close: () => pool.close(),
  }
}
