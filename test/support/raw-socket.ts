// A raw connection for requests that no HTTP client sends: incomplete, slow, or without reading the answer.

import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { until } from './wait.ts'

export interface RawSocket {
  readonly socket: Socket
  /** All text received so far. */
  readonly text: string
  readonly closed: boolean
  write(bytes: string | Uint8Array): void
  /** The status of the first answer. */
  status(): Promise<number>
  ended(): Promise<void>
}

/** @param localAddress the address of the client; default: 127.0.0.1 */
export function openRawSocket(t: TestContext, url: string, localAddress?: string): RawSocket {
  const { port, hostname } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, ...(localAddress && { localAddress }) })
  t.after(() => socket.destroy())
  let text = ''
  let closed = false
  socket.on('data', (chunk) => (text += String(chunk)))
  socket.on('error', () => {}) // 'close' follows
  socket.on('close', () => (closed = true))
  return {
    socket,
    get text() {
      return text
    },
    get closed() {
      return closed
    },
    write: (bytes) => void socket.write(bytes),
    async status() {
      await until(() => text.startsWith('HTTP/1.1 ') && text.includes('\r\n\r\n'), { awaited: 'an answer arrives' })
      return Number(text.slice(9, 12))
    },
    ended: async () => void (await until(() => closed, { awaited: 'the connection ends' })),
  }
}

/** The head of a POST request, without the body. */
export function headOf(path: string, headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({ host: 'test', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}
