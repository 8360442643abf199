// Answers without reading: how fast the load generator itself can go. Not HTTP but for the bytes it writes.

import { type AddressInfo, createServer } from 'node:net'
import { answers } from '../harness/answers.ts'

const body = '{"push_id":"019aa7c2-5f3e-7000-9c1b-000000000001"}'
const answer = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)

// Single sends only: a request of a kilobyte comes in one piece.
const server = createServer({ noDelay: true }, (socket) => {
  socket.on('data', () => socket.write(answer))
  socket.on('error', () => socket.destroy())
})
server.listen(0, '127.0.0.1', () => answers({ port: () => (server.address() as AddressInfo).port }))
