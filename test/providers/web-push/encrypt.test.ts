import assert from 'node:assert/strict'
import { createECDH } from 'node:crypto'
import test from 'node:test'
import { encrypt } from '../../../src/subjects/providers/web-push/encrypt.ts'
import { mostPayloadBytes } from '../../../src/subjects/providers/web-push/payload.ts'
import { decrypt } from '../../../src/tools/stand-ins/web-push/decrypt.ts'

const bytes = (base64url: string): Buffer => Buffer.from(base64url, 'base64url')

function keyPair(privateKey: string) {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(bytes(privateKey))
  return pair
}

const auth = 'BTBZMqHH6r4Tts7J_aSIgg'
const receiver = keyPair('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94')
const keys = { p256dh: receiver.getPublicKey('base64url'), auth }

test('the message of RFC 8291, appendix A, is encrypted as there', () => {
  assert.equal(keys.p256dh, 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4')
  const body = encrypt(
    Buffer.from('When I grow up, I want to be a watermelon'),
    keys,
    keyPair('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
    bytes('DGv6ra1nlYgDCS1FRnbzlw'),
  )
  assert.equal(
    body.toString('base64url'),
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  )
})

test('the largest payload fills a body of 4096 bytes, in one record', () => {
  const payload = Buffer.alloc(mostPayloadBytes, 7)
  const body = encrypt(payload, keys)
  assert.equal(body.length, 4096)
  assert.deepEqual(decrypt(body, receiver, bytes(auth)), payload)
})

test('each message has its own key pair and salt', () => {
  const [one, two] = [encrypt(Buffer.from('x'), keys), encrypt(Buffer.from('x'), keys)]
  assert.notDeepEqual(one.subarray(0, 16), two.subarray(0, 16))
  assert.notDeepEqual(one.subarray(21, 86), two.subarray(21, 86))
})

test('keys of another length, and points that are not on the curve, are refused', () => {
  assert.throws(() => encrypt(Buffer.from('x'), { ...keys, p256dh: 'AAAA' }), /p256dh value should be 65 bytes/)
  assert.throws(() => encrypt(Buffer.from('x'), { ...keys, auth: 'AAAA' }), /auth key should be at least 16 bytes/)
  const offCurve = Buffer.alloc(65, 4).toString('base64url')
  assert.throws(() => encrypt(Buffer.from('x'), { ...keys, p256dh: offCurve }), /not valid for specified curve/)
})
