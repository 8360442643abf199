import { connect } from 'node:net'

export interface HalfSentResult {
  /** The status of the answer. Undefined: the connection closed without an answer. */
  readonly status: number | undefined
  /** Whether the server closed the connection in time. */
  readonly closed: boolean
}

/** Sends a request without its last byte. A server that waits for the complete body keeps the rest in memory. */
export function sendHalf(url: string, path: string, body: Buffer, withinMs: number): Promise<HalfSentResult> {
  return new Promise((resolve) => {
    const { hostname, port, host } = new URL(url)
    let status: number | undefined
    const socket = connect(Number(port), hostname)
    const end = (closed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ status, closed })
    }
    const timer = setTimeout(() => end(false), withinMs)
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      status ??= Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])
    })
    // The server may reset the connection while data is sent; then the answer is lost.
    socket.on('error', () => {})
    socket.on('close', () => end(true))
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
    )
    socket.write(body.subarray(0, -1))
  })
}
