// Bodies in chunks of one byte. Kept apart, the chunks would take over a hundred times the memory of their bytes.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import type { Attack } from './attacks.ts'
import type { Side } from './target.ts'

export const smallChunks: Attack = {
  name: 'S2 bodies in chunks of one byte',
  expected: 'answered 4xx or 503, and kept in the memory of their bytes',
  mounted: 'always',
  // 0.5 MB of bodies, and the garbage of their chunks. When the chunks were kept, the platform grew by 158 MB.
  maxMemoryBytes: 64 * 1024 * 1024,
  async run({ operator, platform, userApp }) {
    const { authorization } = await userApp('1', 'nibbler')
    const signature = `webhook-id: x\r\nwebhook-timestamp: ${Math.floor(Date.now() / 1_000)}\r\nwebhook-signature: v1,${Buffer.alloc(32).toString('base64')}\r\n`
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => sendSmall(platform, '/v1/integration/message/status', signature)),
      sendSmall(operator, '/app/inbox/mark', `authorization: ${authorization}\r\n`),
    ])
    for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 (4\d\d|503) /)
  },
}

/** @returns the beginning of the answer, which comes after the whole body was read */
function sendSmall({ url }: Side, path: string, headers: string): Promise<string> {
  const { port, hostname } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.once('data', (data) => {
      socket.destroy()
      resolve(String(data))
    })
    socket.on('error', reject)
    socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n${headers}\r\n`)
    socket.write(`${'1\r\n \r\n'.repeat(100_000)}0\r\n\r\n`)
  })
}
