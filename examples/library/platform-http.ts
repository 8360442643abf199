// A platform in your own server: node:http. See docs/library.md.

import { createServer } from 'node:http'
import { createPlatform, operatorApi, startLog } from 'bellwire'

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

const server = createServer((request, response) => {
  platform.handler(request, response, () => {
    // A path of the host.
    if (request.url === '/') response.end('Your page')
    else response.writeHead(404).end('Not found')
  })
}).listen(Number(PORT))
const admin = createServer(platform.admin.handler).listen(Number(ADMIN_PORT), '127.0.0.1')

process.once('SIGTERM', async () => {
  server.close() // no new requests; requests in progress are answered
  admin.close()
  await platform.stop()
  log.stop()
})
