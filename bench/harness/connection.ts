import { connect } from 'node:net'

export interface Connection {
  /** Sends one request and reads its answer; rejects unless the status is 200. @returns the body if wantBody, otherwise '' */
  exchange(request: Buffer, wantBody: boolean): Promise<string>
  close(): void
}

const headEnd = Buffer.from('\r\n\r\n')

/** A minimal HTTP client: answers must have a Content-Length, and come one at a time. */
export async function openConnection(port: number): Promise<Connection> {
  let settle: { resolve: (body: string) => void; reject: (error: Error) => void } | undefined
  let wanted = false
  let kept: Buffer[] = []
  // Bytes of the body that have not arrived; -1: the head is incomplete.
  let missing = -1
  let head = ''

  const fail = (error: Error): void => {
    settle?.reject(error)
    settle = undefined
  }
  const finish = (): void => {
    const waiting = settle
    settle = undefined
    missing = -1
    head = ''
    const body = wanted ? Buffer.concat(kept).toString() : ''
    kept = []
    waiting?.resolve(body)
  }
  const onBytes = (length: number, buffer: Uint8Array): boolean => {
    const chunk = Buffer.from(buffer.buffer, buffer.byteOffset, length)
    let from = 0
    if (missing < 0) {
      const end = chunk.indexOf(headEnd)
      head += chunk.toString('latin1', 0, end < 0 ? length : end)
      if (end < 0) return true
      from = end + 4
      const found = /\r\ncontent-length: *(\d+)/i.exec(head)
      if (!found) {
        fail(new Error(`an answer without Content-Length: ${head.slice(0, 200)}`))
        return true
      }
      missing = Number(found[1])
      if (!head.startsWith('200', 9)) {
        fail(new Error(`the server refused: ${head.split('\r\n')[0]} ${chunk.subarray(from).toString().slice(0, 300)}`))
        return true
      }
    }
    if (wanted) kept.push(Buffer.from(chunk.subarray(from)))
    missing -= length - from
    if (missing <= 0) finish()
    return true
  }

  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    // One buffer per connection instead of one per read.
    onread: { buffer: Buffer.alloc(64 * 1024), callback: onBytes },
  })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the server closed the connection')))
  return {
    exchange(request, wantBody) {
      wanted = wantBody
      return new Promise((resolve, reject) => {
        // A closed socket accepts writes without an error.
        if (socket.destroyed) return reject(new Error('the server closed the connection'))
        settle = { resolve, reject }
        socket.write(request)
      })
    },
    close: () => void socket.destroy(),
  }
}
