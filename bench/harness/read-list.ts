import { request } from 'node:http'
import { benchKey } from './bench-key.ts'

export interface ReadList {
  readonly seconds: number
  readonly bytes: number
  /** Valid only with `count`, because counting costs more than reading. */
  readonly users: number
}

/** Reads an operator's whole list of blocked users. @throws if the list is incomplete */
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
            reject(new Error(`incomplete list: ${response.statusCode} …${tail}`))
          // Six quotes do not belong to ids: two names, and the text of the timestamp.
          else resolve({ seconds, bytes, users: (quotes - 6) / 2 })
        })
      },
    )
    asking.on('error', reject)
    asking.end('{"field":"blocked"}')
  })
}
