// A side serves HTTPS itself.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, get } from 'node:https'
import { connect as connectPlain } from 'node:net'
import test from 'node:test'
import { connect } from 'node:tls'
import { addressOf } from '../../src/base/http/address.ts'
import { listen } from '../../src/base/http/http.ts'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { event } from '../support/wait.ts'

test('a new connection gets a replaced certificate, and an open one goes on; a stop ends a handshake that does not end', async (t) => {
  const [first, second] = [makeCertificate(), makeCertificate()]
  const { url, replaceCertificate, close } = await listen(
    'operator',
    (request, response) => void response.end(addressOf(request)),
    { certificate: first, trustedProxies: ['127.0.0.1'] },
  )
  t.after(() => close(0))
  assert.match(url, /^https:/)
  const open = new Agent({ keepAlive: true, maxSockets: 1, ca: first.cert })
  t.after(() => open.destroy())
  const sockets = new Set<unknown>()
  async function ask(agent: Agent): Promise<string> {
    const headers = { 'x-forwarded-for': '192.0.2.7' }
    const [answer] = (await once(get(url, { agent, headers, servername: 'localhost' }), 'response')) as [
      IncomingMessage,
    ]
    sockets.add(answer.socket)
    const text = (await answer.toArray()).join('')
    return text
  }
  assert.equal(await ask(open), '192.0.2.7', 'the address that the proxy named')
  replaceCertificate?.(second)
  assert.equal(await ask(open), '192.0.2.7')
  assert.equal(sockets.size, 1, 'the connection goes on')
  await assert.rejects(ask(new Agent({ ca: first.cert })), /self-signed certificate/)
  assert.equal(await ask(new Agent({ ca: second.cert })), '192.0.2.7')

  const port = Number(new URL(url).port)
  const refused = event('request.refused', ({ error }) => error.startsWith('the TLS handshake failed'))
  const plain = connectPlain(port, '127.0.0.1').on('error', () => {})
  plain.end('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await refused

  const silent = connectPlain(port, '127.0.0.1')
  await once(silent, 'connect')
  const ended = new Promise((resolve) => silent.on('error', () => {}).once('close', resolve))
  // The server has accepted the connection before this one.
  const later = connect({ port, host: '127.0.0.1', ca: second.cert, servername: 'localhost' })
  await once(later, 'secureConnect')
  later.on('error', () => {})
  await close(0)
  await ended
})
