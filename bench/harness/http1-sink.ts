import { createServer, type Server, type Socket } from 'node:net'

/** Answers every request with these bytes, after the latency. Only the length of a request is read. No pipelining. */
export function http1Sink(answer: string, latencyMs: number): Server {
  const bytes = Buffer.from(answer)
  return createServer((socket) => {
    let head = ''
    let missing = 0
    socket.on('error', () => {})
    socket.setNoDelay()
    socket.on('data', (chunk: Buffer) => {
      let here = chunk.length
      if (missing === 0) {
        head += chunk.toString('latin1')
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return
        missing = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
        here = head.length - end - 4
        head = ''
      }
      missing -= here
      if (missing === 0) writeLater(socket, bytes, latencyMs)
    })
  })
}

/** Without latency, writes at once. */
export function writeLater(socket: Socket, bytes: Buffer, latencyMs: number): void {
  if (latencyMs === 0) socket.write(bytes)
  else setTimeout(() => socket.writable && socket.write(bytes), latencyMs)
}
