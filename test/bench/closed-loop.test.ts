import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { closedLoop } from '../../bench/harness/closed-loop.ts'
import { firstId } from '../../bench/harness/requests.ts'
import { listenLocally } from '../support/listen-locally.ts'

const kind = { path: '/channels/push/batch', host: 'localhost', apiKey: 'k', itemBytes: 200, batch: 20 }

interface Sent {
  readonly activity: { readonly id: number }
}

function serve(t: TestContext, answer: (sent: readonly Sent[]) => { status: number; body: object }) {
  const server = createServer(async (request, response) => {
    const { status, body } = answer((await json(request)) as readonly Sent[])
    const text = JSON.stringify(body)
    response.writeHead(status, { 'content-length': Buffer.byteLength(text) }).end(text)
  })
  return listenLocally(t, server)
}

test('no id is sent twice, and the count equals the messages that arrived', async (t) => {
  const ids: number[] = []
  const server = await serve(t, (sent) => {
    for (const { activity } of sent) ids.push(activity.id)
    return { status: 200, body: { successful: sent.map(({ activity }) => ({ id: activity.id, push_id: 'p' })) } }
  })
  const loaded = await closedLoop({ port: server.port, kind, connections: 3, seconds: 0.2, fromId: firstId })
  assert.ok(loaded.requests >= 3)
  assert.equal(loaded.messages, ids.length)
  assert.equal(new Set(ids).size, ids.length)
})

test('a run against a server that refuses fails', async (t) => {
  const refusing = await serve(t, () => ({ status: 503, body: { error: 'no' } }))
  const load = { kind, connections: 1, seconds: 0.2, fromId: firstId }
  await assert.rejects(closedLoop({ ...load, port: refusing.port }), /refused: HTTP\/1.1 503/)
  const fatal = await serve(t, (sent) => ({ status: 200, body: { successful: [], fatal: sent.map(() => ({})) } }))
  await assert.rejects(closedLoop({ ...load, port: fatal.port }), /did not accept/)
})
