import assert from 'node:assert/strict'
import test from 'node:test'
import { SignJWT } from 'jose'
import {
  checkSecrets,
  createSubscriberToken,
  TokenRefused,
  verifySubscriberToken,
} from '../../src/base/http/subscriber-token.ts'

const secret = 'a secret of more than thirty-two bytes'
const other = 'another secret of more than thirty-two bytes'
const start = 1_800_000_000_000
const now = (): number => start

test('a token contains its user, brand and expiry', async () => {
  for (const brand of ['1', '2']) {
    const token = await createSubscriberToken({ secret, brand, userId: '1001', now })
    assert.deepEqual(await verifySubscriberToken(token, { secrets: [secret], now }), {
      brand,
      userId: '1001',
      issuedAt: start,
      expiresAt: start + 600_000,
    })
  }
})

test('during a rotation, tokens signed with either secret are accepted', async () => {
  const token = await createSubscriberToken({ secret: other, brand: '1', userId: '1001', now })
  assert.equal((await verifySubscriberToken(token, { secrets: [secret, other], now })).userId, '1001')
  await assert.rejects(verifySubscriberToken(token, { secrets: [secret], now }), (error: Error) => {
    assert.ok(error instanceof TokenRefused)
    assert.match(error.message, /another secret/)
    return true
  })
})

test('an expired token is refused with the remedy', async () => {
  const token = await createSubscriberToken({ secret, brand: '1', userId: '1001', ttlSeconds: 60, now })
  await verifySubscriberToken(token, { secrets: [secret], now: () => start + 62_000 })
  await assert.rejects(
    verifySubscriberToken(token, { secrets: [secret], now: () => start + 66_000 }),
    /expired: get a new one/,
  )
})

test('a token that is valid for longer than 24 hours is refused, whoever signed it, and is not created', async () => {
  const seconds = start / 1000
  const sign = (iat: number | undefined, exp: number): Promise<string> => {
    const token = new SignJWT({ sub: '1001', brand: '1', ...(iat !== undefined && { iat }) })
    return token
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience('bellwire-app')
      .setExpirationTime(exp)
      .sign(Buffer.from(secret))
  }
  const verify = (token: string) => verifySubscriberToken(token, { secrets: [secret], now })
  for (const [iat, exp] of [
    [undefined, seconds + 86_400],
    [seconds, seconds + 86_400],
    [seconds - 80_000, seconds + 6_400],
  ] as const)
    assert.equal((await verify(await sign(iat, exp))).userId, '1001')
  for (const [iat, exp] of [
    [undefined, seconds + 86_410],
    [seconds, seconds + 315_360_000],
    [seconds - 80_000, seconds + 6_410],
    // `iat` in the future: the lifetime counts from now.
    [seconds + 315_000_000, seconds + 315_000_600],
  ] as const)
    await assert.rejects(verify(await sign(iat, exp)), (error: Error) => {
      assert.ok(error instanceof TokenRefused)
      assert.match(error.message, /longer than 24 hours/)
      return true
    })
  const making = createSubscriberToken({ secret, brand: '1', userId: '1001', ttlSeconds: 86_401, now })
  await assert.rejects(making, /ttlSeconds is 86401: .*at most 86400/)
})

test('a token that was issued in the future is refused: a revocation until now would not concern it', async () => {
  const verifyAfter = async (aheadMs: number) =>
    verifySubscriberToken(
      await createSubscriberToken({ secret, brand: '1', userId: '1001', now: () => start + aheadMs }),
      { secrets: [secret], now },
    )
  assert.equal((await verifyAfter(60_000)).userId, '1001')
  await assert.rejects(verifyAfter(61_000), (error: Error) => {
    assert.ok(error instanceof TokenRefused)
    assert.match(error.message, /`iat` is more than 60 s ahead\. Set the clock of your backend/)
    return true
  })
})

test('a token with wrong claims, without a signature or in another format is refused', async () => {
  const key = Buffer.from(secret)
  const sign = (claims: object, aud = 'bellwire-app'): Promise<string> =>
    new SignJWT({ sub: '1001', brand: '1', ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience(aud)
      .setExpirationTime(start / 1000 + 60)
      .sign(key)
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"sub":"1001","brand":"1"}').toString('base64url')}.`
  for (const [token, pattern] of [
    [await sign({}, 'somebody-else'), /claim `aud`/],
    [await sign({ brand: undefined }), /claim `brand`/],
    [await sign({ sub: undefined }), /claim `sub`/],
    [await sign({ brand: 1 }), /`brand`, both as text/],
    [await sign({ sub: 'x\u0000' }), /both as text/],
    [await sign({ sub: 'x'.repeat(256) }), /both as text of 1 to 255 characters/],
    [unsigned, /signed with HS256/],
    ['nonsense', /signed with HS256/],
  ] as const) {
    await assert.rejects(verifySubscriberToken(token, { secrets: [secret], now }), (error: Error) => {
      assert.ok(error instanceof TokenRefused)
      assert.match(error.message, pattern)
      return true
    })
  }
})

test('a short secret is refused before a token is signed with it', async () => {
  assert.throws(() => checkSecrets([]), /set app\.secrets/)
  assert.throws(() => checkSecrets([secret, 'short']), /app\.secrets\[1\] has fewer than 32 bytes: .*openssl/)
  await assert.rejects(createSubscriberToken({ secret: 'short', brand: '1', userId: '1001' }), /fewer than 32 bytes/)
})
