import { request } from 'node:http'
import { benchKey } from './bench-key.ts'

export interface ReadList {
  readonly seconds: number
  readonly bytes: number
  /** Counted only if asked for: it costs more than reading. */
  readonly users: number
}

/** Asks an operator for who is blocked and reads the whole answer. @throws where it is not whole */
export function readList(port: number, count = false): Promise<ReadList> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const asking = request(
      { port, method: 'POST', path: '/reconciliation', headers: { 'x-api-key': benchKey } },
      (response) => {
        let bytes = 0
        let quotes = 0
        let tail = Buffer.alloc(0)
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (count) for (let at = chunk.indexOf(34); at >= 0; at = chunk.indexOf(34, at + 1)) quotes++
          tail = Buffer.concat([tail.subarray(-100), chunk.subarray(-100)])
        })
        response.on('error', reject)
        response.on('end', () => {
          const seconds = (performance.now() - began) / 1000
          if (response.statusCode !== 200 || !/\],"timestamp":"[^"]+"\}$/.test(tail.toString()))
            reject(new Error(`not a whole list: ${response.statusCode} …${tail}`))
          // users and timestamp are names, and the timestamp is a text: six quotes that are no id's.
          else resolve({ seconds, bytes, users: (quotes - 6) / 2 })
        })
      },
    )
    asking.on('error', reject)
    asking.end('{"field":"blocked"}')
  })
}
