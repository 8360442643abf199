import type { IncomingMessage } from 'node:http'
import { collectBytes } from './collect-bytes.ts'

/** @returns undefined if the body has more than `most` bytes */
export async function readBody(request: IncomingMessage, most = 64 * 1024 * 1024): Promise<Buffer | undefined> {
  const body = collectBytes()
  for await (const chunk of request) {
    body.add(chunk as Buffer)
    if (body.bytes > most) return undefined
  }
  return body.join()
}
