// Twenty pollers with the key of one brand, while the operator has many statuses of another brand.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Attack } from './attacks.ts'
import { activity, type Target } from './target.ts'

const pollers = 20
/** An operator may answer one wave before the next request arrives. */
const waves = 20

export const manyPollers: Attack = {
  name: 'S7 twenty pollers of one key',
  expected: 'polls of one key are served one at a time, at most four wait, and the others are answered 503',
  mounted: 'always',
  async prepare({ operator, keys, small }) {
    const key = { 'x-api-key': keys['2'] as string }
    for (let n = 0; n < (small ? 1 : 100); n++) {
      const records = Array.from({ length: 1_000 }, (_, i) => activity('2', `reader-${i}`))
      const { status, json } = await operator.request('POST', '/channels/site/batch', records, key)
      assert.equal(status, 200)
      assert.equal((json.successful as readonly unknown[]).length, records.length)
    }
  },
  async run(target, signal) {
    const sockets = await Promise.all(Array.from({ length: pollers }, () => openPoller(target)))
    try {
      let refused = 0
      for (let wave = 0; wave < waves; wave++) {
        const answers = sockets.map((socket) => readAnswer(socket, signal))
        // Requests that are written in one turn arrive together.
        for (const socket of sockets) socket.write(pollOf(target))
        for (const answer of await Promise.all(answers)) {
          const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])
          assert.ok(status === 200 || status === 503, `a poll was answered ${status}`)
          if (status === 200) continue
          assert.match(answer, /^retry-after: /im, '503 without Retry-After')
          refused++
        }
      }
      assert.ok(refused > 0, 'twenty polls of one key were served at once')
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  },
}

async function openPoller({ operator }: Target): Promise<Socket> {
  const { hostname, port } = new URL(operator.url)
  const socket = connect(Number(port), hostname).setEncoding('latin1')
  await once(socket, 'connect')
  return socket
}

const pollOf = ({ keys }: Target): string =>
  `GET /messages/status?limit=1000 HTTP/1.1\r\nhost: operator\r\nx-api-key: ${keys['1']}\r\n\r\n`

/** Reads one answer with a content-length. */
async function readAnswer(socket: Socket, signal: AbortSignal): Promise<string> {
  let text = ''
  for (;;) {
    text += (await once(socket, 'data', { signal }))[0] as string
    const [head = '', body] = text.split('\r\n\r\n', 2)
    if (body !== undefined && body.length >= Number(/^content-length: (\d+)/im.exec(head)?.[1])) return text
  }
}
