import { connect } from 'node:net'

export interface HalfSent {
  /** Of the answer; undefined where none came before the connection was closed. */
  readonly status: number | undefined
  /** By the server, within the time. */
  readonly closed: boolean
}

/** Sends a request whose last byte is withheld. A server that waits for all of a body keeps the rest of it in memory. */
export function sendHalf(url: string, path: string, body: Buffer, withinMs: number): Promise<HalfSent> {
  return new Promise((resolve) => {
    const { hostname, port, host } = new URL(url)
    let status: number | undefined
    const socket = connect(Number(port), hostname)
    const end = (closed: boolean): void => {
      clearTimeout(late)
      socket.destroy()
      resolve({ status, closed })
    }
    const late = setTimeout(() => end(false), withinMs)
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      status ??= Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])
    })
    // What was still being sent may be reset, and the answer with it.
    socket.on('error', () => {})
    socket.on('close', () => end(true))
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
    )
    socket.write(body.subarray(0, -1))
  })
}
