import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import test from 'node:test'
import { apnsSigningKey } from '../../src/subjects/providers/apns/provider-token.ts'
import { readServiceAccount, signingKey } from '../../src/subjects/providers/fcm/service-account.ts'

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pkcs8 = (passphrase?: string) =>
  ec.privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    ...(passphrase && { cipher: 'aes-256-cbc', passphrase }),
  }) as string
const p8 = pkcs8()
const base64 = (text: string): string => Buffer.from(text).toString('base64')

test('a .p8 key is read as hosting panels store it', () => {
  const escaped = p8.replaceAll('\n', '\\n')
  for (const [form, text] of Object.entries({
    unchanged: p8,
    'with a byte order mark': `\ufeff${p8}`,
    'with CRLF': p8.replaceAll('\n', '\r\n'),
    'with \\n written out': escaped,
    'escaped twice': p8.replaceAll('\n', '\\\\n'),
    'in quotes': `"${escaped}"`,
    'in single quotes': `'${p8}'`,
    'on one line': p8.replaceAll('\n', ' '),
    'without line ends': p8.replaceAll('\n', ''),
    indented: p8.replaceAll('\n', '\n    '),
    'in base64': base64(p8),
    'in base64 with line ends': base64(p8).replace(/.{76}/g, '$&\n'),
    SEC1: ec.privateKey.export({ type: 'sec1', format: 'pem' }) as string,
  }))
    assert.equal(apnsSigningKey(text).asymmetricKeyType, 'ec', form)
})

test('a key that cannot be read is refused with its cause, and the error does not contain it', () => {
  const binary = Buffer.from([0x30, 0x82, 0x0a, 0x00, 0xff, 0xfe, 0x01]).toString('utf8')
  const refused = (text: string): string => {
    try {
      apnsSigningKey(text)
    } catch (error) {
      const { message } = error as Error
      assert.ok(!message.includes('MII') && !message.includes('canary'), message)
      assert.ok(!/download/.test(message), 'Apple offers the key once only')
      return message
    }
    return assert.fail('it was accepted')
  }
  assert.match(refused(pkcs8('secret')), /has a passphrase: remove it with openssl/)
  assert.match(
    refused('-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nMII\n-----END EC PRIVATE KEY-----'),
    /passphrase/,
  )
  assert.match(
    refused(ec.publicKey.export({ type: 'spki', format: 'pem' }) as string),
    /public key: use the private key/,
  )
  assert.match(
    refused('-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----'),
    /certificate or a \.p12 file, which is not supported/,
  )
  assert.match(refused(binary), /certificate or a \.p12/)
  assert.match(refused('canary'), /not a private key: give the whole text/)
  assert.match(refused(p8.replace(/\n.{20}/, '\n')), /damaged/)
  assert.match(refused(rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string), /not a key for APNs/)
})

const privateKey = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const account = {
  type: 'service_account',
  project_id: 'shop',
  client_email: 'a@shop.iam.gserviceaccount.com',
  private_key: privateKey,
}

test('a service account is read as hosting panels store it', () => {
  const json = JSON.stringify(account, undefined, 2)
  for (const [form, text] of Object.entries({
    unchanged: json,
    'with a byte order mark': `\ufeff${json}`,
    'with line ends in the key': json.replaceAll('\\n', '\n'),
    'as a JSON string': JSON.stringify(json),
    'as a JSON string without quotes': JSON.stringify(JSON.stringify(account)).slice(1, -1),
    'in double quotes': `"${json}"`,
    'in single quotes': `'${json}'`,
    'in base64': base64(json),
    'with a key that is escaped twice': JSON.stringify({ ...account, private_key: privateKey.replaceAll('\n', '\\n') }),
    'with spaces for line ends': JSON.stringify({ ...account, private_key: privateKey.replaceAll('\n', ' ') }),
  })) {
    const read = readServiceAccount(text)
    assert.equal(read.project_id, 'shop', form)
    assert.equal(signingKey(read.private_key).asymmetricKeyType, 'rsa', form)
  }
})

test('a file of the app in place of a service account is named', () => {
  assert.throws(
    () => readServiceAccount('{"project_info":{},"client":[]}'),
    /google-services\.json, a file for the app/,
  )
  assert.throws(
    () => readServiceAccount('<?xml version="1.0"?><plist></plist>'),
    /GoogleService-Info\.plist, a file for the app/,
  )
  const encrypted = rsa.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  assert.throws(
    () => readServiceAccount({ ...account, private_key: encrypted }),
    /^Error: private_key cannot be read: the key has a passphrase/,
  )
})
