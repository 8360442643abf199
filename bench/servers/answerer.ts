// Answers with prepared bytes without parsing the requests, to measure the maximum speed of the load generator.

import { type AddressInfo, createServer } from 'node:net'
import { handleCalls } from '../harness/handle-calls.ts'

const body = '{"push_id":"019aa7c2-5f3e-7000-9c1b-000000000001"}'
const answer = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)

// For single sends only: a request of 1 kB arrives in one chunk.
const server = createServer({ noDelay: true }, (socket) => {
  socket.on('data', () => socket.write(answer))
  socket.on('error', () => socket.destroy())
})
server.listen(0, '127.0.0.1', () => handleCalls({ port: () => (server.address() as AddressInfo).port }))
