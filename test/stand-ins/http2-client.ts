// An HTTP/2 client that tests the stand-ins independently of Bellwire's own push services.

import { connect } from 'node:http2'
import type { TestContext } from 'node:test'

export interface Http2Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly json: Record<string, unknown>
}

export type SendRequest = (
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | object,
  method?: string,
) => Promise<Http2Answer>

export function connectClient(t: TestContext, url: string, ca: string | undefined): SendRequest {
  const session = connect(url, ca === undefined ? {} : { ca })
  session.on('error', () => {})
  t.after(() => session.destroy())
  return (path, headers, body, method = 'POST') =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: false })
      let answerHeaders: Record<string, string> = {}
      let text = ''
      stream.setEncoding('utf8')
      stream.on('response', (headers) => {
        answerHeaders = headers as unknown as Record<string, string>
      })
      stream.on('data', (chunk) => {
        text += chunk
      })
      stream.on('error', reject)
      stream.on('end', () =>
        resolve({
          status: Number(answerHeaders[':status']),
          headers: answerHeaders,
          json: text === '' ? {} : JSON.parse(text),
        }),
      )
      stream.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
}
