import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import crypto from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { createEncryptor, type Encryptor } from '../../../src/subjects/providers/web-push/encryptor.ts'
import { decrypt } from '../../../src/tools/stand-ins/web-push/decrypt.ts'

function browser() {
  const receiver = crypto.createECDH('prime256v1')
  const p256dh = receiver.generateKeys().toString('base64url')
  const auth = crypto.randomBytes(16)
  return {
    keys: { p256dh, auth: auth.toString('base64url') },
    read: (body: Uint8Array) => decrypt(Buffer.from(body), receiver, auth).toString(),
  }
}

function encryptor(t: TestContext, threads: number): Encryptor {
  const made = createEncryptor(threads)
  t.after(() => made.close())
  return made
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text)

test('each message is encrypted for its own browser, over several threads', async (t) => {
  const { encrypt } = encryptor(t, 3)
  const browsers = Array.from({ length: 60 }, browser)
  const read = await Promise.all(
    browsers.map(async ({ keys, read }, i) => {
      const encrypted = await encrypt(bytesOf(`message ${i}`), keys)
      return 'body' in encrypted ? read(encrypted.body) : encrypted.error
    }),
  )
  assert.deepEqual(
    read,
    browsers.map((_, i) => `message ${i}`),
  )
})

test('encryption does not run in the calling thread', async (t) => {
  const { encrypt } = encryptor(t, 1)
  const { keys, read } = browser()
  t.mock.method(crypto, 'createECDH', () => assert.fail('computed here'))
  const encrypted = await encrypt(bytesOf('x'), keys)
  assert.equal('body' in encrypted && read(encrypted.body), 'x')
})

test('a process does not end before its encryption, although nothing else keeps it alive', async () => {
  const encryptor = import.meta.resolve('../../../src/subjects/providers/web-push/encryptor.ts')
  const program = `
    import(${JSON.stringify(encryptor)})
      .then(({ createEncryptor }) => createEncryptor(1).encrypt(Buffer.from('x'), ${JSON.stringify(browser().keys)}))
      .then(({ body }) => console.log(body.length))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', program])
  assert.ok(Number(stdout) > 100, stdout)
})

test('invalid keys give an error, and other jobs are not affected', async (t) => {
  const { encrypt } = encryptor(t, 1)
  const { keys, read } = browser()
  const wrong = { ...keys, p256dh: Buffer.alloc(65, 4).toString('base64url') }
  const [bad, good] = await Promise.all([encrypt(bytesOf('x'), wrong), encrypt(bytesOf('x'), keys)])
  assert.ok('error' in bad, 'an error')
  assert.equal('body' in good && read(good.body), 'x')
})

test('the jobs of a thread that ends are rejected, and another thread replaces it', async (t) => {
  const mortal = createEncryptor(1, new URL('../../support/crashing-thread.ts', import.meta.url))
  t.after(() => mortal.close())
  const { keys, read } = browser()
  const [died, behind] = await Promise.allSettled([
    mortal.encrypt(bytesOf('die'), keys),
    mortal.encrypt(bytesOf('x'), keys),
  ])
  for (const each of [died, behind]) assert.match(each.status === 'rejected' ? String(each.reason) : '', /has ended/)
  const next = await mortal.encrypt(bytesOf('x'), keys)
  assert.equal('body' in next && read(next.body), 'x')
})

test('a closed encryptor refuses jobs', async () => {
  const { encrypt, close } = createEncryptor(1)
  const { keys } = browser()
  await encrypt(bytesOf('x'), keys)
  await close()
  await assert.rejects(encrypt(bytesOf('x'), keys), /closed/)
})
