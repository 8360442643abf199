// A platform in your own server: Fastify 5. See docs/library.md.

import { createServer } from 'node:http'
import { createPlatform, operatorApi, startLog } from 'bellwire'
import Fastify from 'fastify'

const { CRM_KEY = '', OPERATOR_URL = '', OPERATOR_KEY = '', STORE = 'sqlite:platform.db' } = process.env
const { PORT = '7002', ADMIN_PORT = '7102' } = process.env

const log = startLog({ level: 'info', format: 'json', secrets: [CRM_KEY, OPERATOR_KEY] })
const platform = createPlatform({
  store: STORE,
  keys: [{ name: 'crm', key: CRM_KEY, scopes: ['enqueue', 'counts'] }],
  lanes: [
    {
      brand: '1',
      channel: 'push',
      mode: 'batch',
      provider: operatorApi({ url: OPERATOR_URL, apiKey: OPERATOR_KEY }),
    },
  ],
})
await platform.start()

const app = Fastify()
await app.register(platform.fastify, { prefix: '/bellwire' })
app.get('/', async () => 'Your page')

await app.listen({ port: Number(PORT), host: '0.0.0.0' })
const admin = createServer(platform.admin.handler).listen(Number(ADMIN_PORT), '127.0.0.1')

process.once('SIGTERM', async () => {
  admin.close()
  await Promise.all([app.close(), platform.stop()]) // no new requests; requests in progress are answered
  log.stop()
})
