// Encrypts a message for a browser: RFC 8291 (keys), and RFC 8188 (content coding aes128gcm) in one record.

import { createCipheriv, createECDH, type ECDH, hkdfSync } from 'node:crypto'
import { random } from '../../../base/runtime/random.ts'

/** The keys of a subscription, in base64url. */
export interface SubscriptionKeys {
  readonly p256dh: string
  readonly auth: string
}

/** One record holds the whole message, because a browser reads one only (RFC 8291 §4). */
const recordSize = Buffer.from([0, 0, 16, 0])
/** The padding delimiter of the last record. */
const lastRecord = Buffer.from([2])

/**
 * @param sender a key pair for this message alone
 * @returns the body of the request
 * @throws if the keys are not valid
 */
export function encrypt(
  payload: Uint8Array,
  { p256dh, auth }: SubscriptionKeys,
  sender: ECDH = newKeyPair(),
  salt: Buffer = random.bytes(16),
): Buffer<ArrayBuffer> {
  const [receiver, secret] = [Buffer.from(p256dh, 'base64url'), Buffer.from(auth, 'base64url')]
  if (receiver.length !== 65) throw new Error('The subscription p256dh value should be 65 bytes long.')
  if (secret.length < 16) throw new Error('The subscription auth key should be at least 16 bytes long')
  const publicKey = sender.getPublicKey()
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), receiver, publicKey])
  const material = derive(sender.computeSecret(receiver), secret, info, 32)
  const key = derive(material, salt, 'Content-Encoding: aes128gcm\0', 16)
  const nonce = derive(material, salt, 'Content-Encoding: nonce\0', 12)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const record = [cipher.update(payload), cipher.update(lastRecord), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat([salt, recordSize, Buffer.from([publicKey.length]), publicKey, ...record])
}

function newKeyPair(): ECDH {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  return pair
}

function derive(secret: Uint8Array, salt: Uint8Array, info: string | Uint8Array, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, bytes))
}
