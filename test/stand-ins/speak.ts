// A plain HTTP/2 client, so that the stand-ins are tested without our own push services.

import { connect } from 'node:http2'
import type { TestContext } from 'node:test'

export interface Spoken {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly json: Record<string, unknown>
}

export type Speak = (
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | object,
  method?: string,
) => Promise<Spoken>

export function speaker(t: TestContext, url: string, ca: string | undefined): Speak {
  const session = connect(url, ca === undefined ? {} : { ca })
  session.on('error', () => {})
  t.after(() => session.destroy())
  return (path, headers, body, method = 'POST') =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: false })
      let answered: Record<string, string> = {}
      let text = ''
      stream.setEncoding('utf8')
      stream.on('response', (given) => {
        answered = given as unknown as Record<string, string>
      })
      stream.on('data', (chunk) => {
        text += chunk
      })
      stream.on('error', reject)
      stream.on('end', () =>
        resolve({ status: Number(answered[':status']), headers: answered, json: text === '' ? {} : JSON.parse(text) }),
      )
      stream.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
}
