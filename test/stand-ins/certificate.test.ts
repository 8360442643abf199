import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import test from 'node:test'
import { connect, createServer } from 'node:tls'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { listenLocally } from '../support/listen-locally.ts'

test('the certificate is valid, is its own authority, and has the names of this machine and its host', () => {
  const certificate = new X509Certificate(makeCertificate('push.example.test').cert)
  assert.ok(certificate.ca && certificate.verify(certificate.publicKey))
  assert.equal(certificate.checkHost('push.example.test'), 'push.example.test')
  assert.equal(certificate.checkHost('localhost'), 'localhost')
  assert.equal(certificate.checkHost('elsewhere.example.test'), undefined)
  assert.deepEqual([certificate.checkIP('127.0.0.1'), certificate.checkIP('::1')], ['127.0.0.1', '::1'])
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)]
  assert.ok(from < Date.now() && to > Date.now())
})

test('only a client that trusts the certificate connects over TLS', async (t) => {
  const { key, cert } = makeCertificate()
  const server = createServer({ key, cert }, (socket) => socket.on('error', () => {}).end('served'))
  const { port } = await listenLocally(t, server)
  const trusting = connect({ port, host: '127.0.0.1', ca: cert })
  let read = ''
  for await (const chunk of trusting) read += chunk
  assert.equal(read, 'served')
  const [error] = await once(connect({ port, host: '127.0.0.1' }), 'error').catch((error: Error) => [error])
  assert.match(String(error), /self-signed certificate/)
})
