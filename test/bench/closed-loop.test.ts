import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { closedLoop } from '../../bench/harness/closed-loop.ts'
import { firstId } from '../../bench/harness/requests.ts'

const kind = { path: '/channels/push/batch', host: 'localhost', apiKey: 'k', itemBytes: 200, batch: 20 }

interface Sent {
  readonly activity: { readonly id: number }
}

async function serve(
  answer: (sent: readonly Sent[]) => { status: number; body: object },
): Promise<{ port: number; close(): void }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { status, body } = answer(JSON.parse(Buffer.concat(chunks).toString()) as readonly Sent[])
    const text = JSON.stringify(body)
    response.writeHead(status, { 'content-length': Buffer.byteLength(text) }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}

test('no id is sent twice, and the count equals the messages that arrived', async (t) => {
  const ids: number[] = []
  const server = await serve((sent) => {
    for (const { activity } of sent) ids.push(activity.id)
    return { status: 200, body: { successful: sent.map(({ activity }) => ({ id: activity.id, push_id: 'p' })) } }
  })
  t.after(server.close)
  const loaded = await closedLoop({ port: server.port, kind, connections: 3, seconds: 0.2, fromId: firstId })
  assert.ok(loaded.requests >= 3)
  assert.equal(loaded.messages, ids.length)
  assert.equal(new Set(ids).size, ids.length)
})

test('a run against a server that refuses fails', async (t) => {
  const refusing = await serve(() => ({ status: 503, body: { error: 'no' } }))
  t.after(refusing.close)
  const load = { kind, connections: 1, seconds: 0.2, fromId: firstId }
  await assert.rejects(closedLoop({ ...load, port: refusing.port }), /refused: HTTP\/1.1 503/)
  const fatal = await serve((sent) => ({ status: 200, body: { successful: [], fatal: sent.map(() => ({})) } }))
  t.after(fatal.close)
  await assert.rejects(closedLoop({ ...load, port: fatal.port }), /did not accept/)
})
