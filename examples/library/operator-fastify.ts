// An operator in your own server: Fastify 5. See docs/library.md.

import { createServer } from 'node:http'
import { createOperator, recording, startLog } from 'bellwire'
import Fastify from 'fastify'

const { API_KEY = '', ADMIN_KEY = '', STORE = 'sqlite:operator.db', PORT = '7001', ADMIN_PORT = '7101' } = process.env

const log = startLog({ level: 'info', format: 'json', secrets: [API_KEY, ADMIN_KEY] })
const operator = createOperator({
  store: STORE,
  keys: [{ name: 'platform', key: API_KEY, brands: ['1'] }],
  adminKeys: [{ name: 'back office', key: ADMIN_KEY, scopes: ['counts', 'read', 'decide'] }],
  push: recording(), // in production: { devices: { source: 'registry', services: [fcm({ serviceAccount })] } }
  site: 'inbox',
  suppression: 'none', // in production: attributes, the source of blocked users and consent
})
await operator.start()

const app = Fastify()
await app.register(operator.fastify, { prefix: '/bellwire' })
app.get('/', async () => 'Your page')

await app.listen({ port: Number(PORT), host: '0.0.0.0' })
const admin = createServer(operator.admin.handler).listen(Number(ADMIN_PORT), '127.0.0.1')

process.once('SIGTERM', async () => {
  admin.close()
  await Promise.all([app.close(), operator.stop()]) // no new requests; requests in progress are answered
  log.stop()
})
