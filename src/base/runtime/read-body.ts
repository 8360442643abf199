import type { IncomingMessage } from 'node:http'

/** @returns undefined if the body has more than `most` bytes */
export async function readBody(request: IncomingMessage, most = 64 * 1024 * 1024): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > most) return undefined
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}
