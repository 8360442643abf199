// An operator behind the real nginx and the real Caddy with the files of deploy/.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { Agent, type RequestOptions, request } from 'node:https'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { connect } from 'node:tls'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { freePort } from '../support/free-port.ts'
import { caddyService, environmentOf, nginxService } from '../support/services/debian-programs.ts'
import { startServer } from '../support/services/program.ts'
import { addressOf, without } from '../support/services/service.ts'
import { adminKey, element, keys, post, startOperator, temporary } from '../support/sides.ts'
import { event } from '../support/wait.ts'
import { deploy } from './promtool.ts'

const backendKey = { name: 'site', key: 'the-key-of-the-backend', scopes: ['tokens'] } as const

const startInside = (t: TestContext) =>
  startOperator(t, {
    app: { secrets: ['the-secret-of-subscriber-tokens-1'], origins: [] },
    adminKeys: [adminKey, backendKey],
    listen: { trustedProxies: ['127.0.0.1'] },
  })

interface Proxy {
  readonly name: string
  readonly skip: string | false
  /** @returns the port of the proxy, with TLS */
  start(t: TestContext, upstream: string): Promise<number>
}

const proxies: readonly Proxy[] = [
  {
    name: 'nginx',
    skip: await without(nginxService),
    async start(t, upstream) {
      const [program, port, folder] = [await addressOf(nginxService), await freePort(), await temporary(t)]
      const { key, cert } = makeCertificate()
      for (const [name, text] of Object.entries({ 'operator.key': key, 'operator.pem': cert }))
        await writeFile(join(folder, name), text)
      const temporaryPaths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      )
      const server = (await readFile(join(deploy, 'nginx/operator.conf'), 'utf8'))
        .replace('127.0.0.1:7001', upstream)
        .replace('listen 443', `listen 127.0.0.1:${port}`)
        .replaceAll('/etc/ssl/', `${folder}/`)
      const config = `daemon off; master_process off; pid ${folder}/pid; error_log stderr notice; events {}
        http { access_log off; gzip on; gzip_types text/event-stream; gzip_min_length 1; ${temporaryPaths.join(' ')} ${server} }`
      await writeFile(join(folder, 'nginx.conf'), config)
      const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr']
      const nginx = await startServer({ program, args, env: environmentOf(program), folder, ready: /notice.*epoll/ })
      t.after(() => nginx.end())
      return port
    },
  },
  {
    name: 'Caddy',
    skip: await without(caddyService),
    async start(t, upstream) {
      const [program, port, folder] = [await addressOf(caddyService), await freePort(), await temporary(t)]
      const file = join(folder, 'Caddyfile')
      const options = `{\n\tdebug\n\tadmin off\n\tauto_https disable_redirects\n\tlocal_certs\n\tskip_install_trust\n}\n`
      await writeFile(file, options + (await readFile(join(deploy, 'caddy/Caddyfile'), 'utf8')))
      const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
      // Caddy reports a certificate as obtained before a handshake can use it: only the line of its cache says so.
      const caddy = await startServer({
        program,
        args: ['run', '--adapter', 'caddyfile', '--config', file],
        env: { ...env, DOMAIN: `https://localhost:${port}`, UPSTREAM: upstream },
        folder,
        ready: /added certificate to cache/,
      })
      t.after(() => caddy.end())
      return port
    },
  },
]

for (const { name, skip, start } of proxies)
  test(`${name} passes messages and events on at once, keeps /admin inside, and names the address of the client`, {
    skip,
  }, async (t) => {
    const { url } = await startInside(t)
    const port = await start(t, new URL(url).host)
    const agent = new Agent({ rejectUnauthorized: false, keepAlive: true })
    t.after(() => agent.destroy())
    const ask = (path: string, options: RequestOptions = {}, body = '') =>
      new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
        const asked = request({ host: 'localhost', family: 4, port, path, agent, ...options }, async (response) =>
          resolve({ status: response.statusCode, text: (await response.setEncoding('utf8').toArray()).join('') }),
        )
        asked.on('error', reject).end(body)
      })
    const headers = { 'x-api-key': keys.one.key, 'content-type': 'application/json' }
    const sent = await ask('/channels/push/single', { method: 'POST', headers }, JSON.stringify(element()))
    assert.equal(sent.status, 200, sent.text)

    for (const path of ['/admin/summary', '//admin/summary', '/console', '/metrics', '/docs', '/openapi.json'])
      assert.equal((await ask(path, { headers: { 'x-api-key': adminKey.key } })).status, 404, path)

    const refused = event('keys.refused', ({ address }) => address === '127.0.0.2')
    const wrong = { 'x-api-key': 'a-wrong-key', 'x-forwarded-for': '192.0.2.7' }
    const stranger = { method: 'POST', headers: wrong, localAddress: '127.0.0.2', agent: false } as const
    assert.equal((await ask('/channels/push/single', { ...stranger, rejectUnauthorized: false }, '{}')).status, 401)
    await refused

    // A client that sends six requests at once: the operator would close the connection at the fifth.
    const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', rejectUnauthorized: false })
    t.after(() => socket.destroy())
    const last = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'
    socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(5) + last)
    const answers = (await socket.setEncoding('utf8').toArray()).join('')
    assert.equal(answers.match(/HTTP\/1\.1 200/g)?.length, 6, answers)

    const user = { brand: '1', user_id: '1001' }
    const { token } = (await post(`${url}/admin/subscriber-tokens`, user, backendKey.key)).body
    const events = await new Promise<AsyncIterable<string>>((resolve, reject) => {
      const streamed = request({
        ...{ host: 'localhost', family: 4, port, agent, path: '/app/inbox/stream' },
        headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' },
      })
      t.after(() => streamed.destroy())
      streamed
        .on('error', reject)
        .on('response', (response) => resolve(response.setEncoding('utf8')))
        .end()
    })
    const chunks = events[Symbol.asyncIterator]()
    const next = async (pattern: RegExp): Promise<void> => {
      for (let text = ''; !pattern.test(text); ) text += (await chunks.next()).value
    }
    await next(/event: ready/)
    await post(`${url}/channels/site/single`, element({ user_id: '1001' }, { title: 'At once' }), keys.one.key)
    await next(/At once/)
  })
