import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'

const decoders = { gzip: gunzipSync, 'x-gzip': gunzipSync, deflate: inflateSync, br: brotliDecompressSync } as const

const maxOutputLength = 64 * 1024 * 1024

/** The text of a body with this Content-Encoding. @throws Error if it cannot be decoded */
export function decodeBody(body: Buffer, encoding = 'identity'): string {
  if (encoding === 'identity') return body.toString('utf8')
  const decode = decoders[encoding as keyof typeof decoders]
  if (decode === undefined) throw new Error(`the answer has an unknown content encoding: ${encoding}`)
  return decode(body, { maxOutputLength }).toString('utf8')
}
