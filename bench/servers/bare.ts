// A minimal server of the send endpoints: node:http, JSON.parse of the whole body, an identifier for each message.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { handleCalls } from '../harness/handle-calls.ts'

interface Sent {
  readonly activity: { readonly id: number }
}

let made = 0
function identifier(): string {
  return `019aa7c2-5f3e-7000-9c1b-${String(++made).padStart(12, '0')}`
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const sent = JSON.parse(Buffer.concat(chunks).toString()) as Sent | readonly Sent[]
    const answer = Array.isArray(sent)
      ? { successful: sent.map((one: Sent) => ({ id: one.activity.id, push_id: identifier() })), failed: [], fatal: [] }
      : { push_id: identifier() }
    const body = JSON.stringify(answer)
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body)
  })
})
server.listen(0, '127.0.0.1', () => handleCalls({ port: () => (server.address() as AddressInfo).port }))
