// A server that sends each single push over node:http2 and answers with an identifier: no authentication, no validation, no store.
// argv: the target as JSON.

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeHttp2Loop } from '../harness/bare-push.ts'
import { handleCalls } from '../harness/handle-calls.ts'
import { type PushTarget, tokensOf } from '../harness/push-target.ts'

const target = JSON.parse(process.argv[2] as string) as PushTarget
const tokens = tokensOf(target, 2_000)
const send = await nodeHttp2Loop(target)
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', async () => {
    const { activity } = JSON.parse(Buffer.concat(chunks).toString()) as { activity: { id: number } }
    await send(tokens[activity.id % tokens.length] as string)
    const body = JSON.stringify({ push_id: randomUUID() })
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body)
  })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
handleCalls({ port: () => (server.address() as AddressInfo).port })
