// A bare loop of undici's Pool: prepared requests, sent over four connections. argv: the operator's base URL, messages in a request (0: single).

import { Pool } from 'undici'
import { benchKey } from '../harness/bench-key.ts'
import { handleCalls } from '../harness/handle-calls.ts'
import { activityRecord, firstId } from '../harness/requests.ts'

const [url = '', batch = '0'] = process.argv.slice(2)
const messages = Math.max(1, Number(batch))
const connections = 4
const pool = new Pool(url, { connections, pipelining: 1 })
const path = `/channels/push/${batch === '0' ? 'single' : 'batch'}`
const headers = { 'content-type': 'application/json', 'x-api-key': benchKey }
const records = Array.from({ length: messages }, (_, i) => activityRecord(String(firstId + i), i, 400))
const body = Buffer.from(batch === '0' ? (records[0] as string) : `[${records.join(',')}]`)

handleCalls({
  /** Sends this number of messages. @returns the seconds */
  async send(count: number): Promise<number> {
    let requests = Math.ceil(count / messages)
    const began = performance.now()
    const loop = async (): Promise<void> => {
      while (requests-- > 0) {
        const { statusCode, body: answer } = await pool.request({ path, method: 'POST', headers, body })
        await answer.text()
        if (statusCode !== 200) throw new Error(`the operator answered ${statusCode}`)
      }
    }
    await Promise.all(Array.from({ length: connections }, loop))
    return (performance.now() - began) / 1000
  },
})
