// Decrypts a message like a browser (RFC 8291, RFC 8188). Written from the RFCs, without any code of the sender.

import { createDecipheriv, type ECDH, hkdfSync } from 'node:crypto'

const text = (word: string): Buffer => Buffer.from(`${word}\0`)

/**
 * Decrypts a body of content coding aes128gcm in one record.
 *
 * @throws if the body was not encrypted for these keys
 */
export function decrypt(body: Buffer, receiver: ECDH, auth: Buffer): Buffer {
  const salt = body.subarray(0, 16)
  const idLength = body.readUInt8(20)
  const sender = body.subarray(21, 21 + idLength)
  const record = body.subarray(21 + idLength)
  if (record.length > body.readUInt32BE(16)) throw new Error('more than one record')

  const info = Buffer.concat([text('WebPush: info'), receiver.getPublicKey(), sender])
  const secret = derive(receiver.computeSecret(sender), auth, info, 32)
  const key = derive(secret, salt, text('Content-Encoding: aes128gcm'), 16)
  const nonce = derive(secret, salt, text('Content-Encoding: nonce'), 12)
  const decipher = createDecipheriv('aes-128-gcm', key, nonce)
  decipher.setAuthTag(record.subarray(-16))
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()])
  // Zeros are padding. The byte before them is 2, which marks the last record.
  const end = padded.findLastIndex((byte) => byte !== 0)
  if (padded[end] !== 2) throw new Error('not the last record')
  return padded.subarray(0, end)
}

function derive(secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, bytes))
}
