// An operator within a server of yours: node:http. docs/library.md says more.

import { createServer } from 'node:http'
import { createOperator, recording, startLog } from 'bellwire'

const { API_KEY = '', ADMIN_KEY = '', STORE = 'sqlite:operator.db', PORT = '7001', ADMIN_PORT = '7101' } = process.env

const log = startLog({ level: 'info', format: 'json', secrets: [API_KEY, ADMIN_KEY] })
const operator = createOperator({
  store: STORE,
  keys: [{ name: 'platform', key: API_KEY, brands: ['1'] }],
  adminKeys: [{ name: 'back office', key: ADMIN_KEY, scopes: ['read', 'manage'] }],
  push: recording(), // in life: { devices: { source: 'registry', services: [fcm({ serviceAccount })] } }
  site: 'inbox',
  suppression: 'none', // in production: attributes, the source of blocked users and consent
})
await operator.start()

const server = createServer((request, response) => {
  operator.handler(request, response, () => {
    // Not one of its paths.
    if (request.url === '/') response.end('A page of yours')
    else response.writeHead(404).end('There is nothing here')
  })
}).listen(Number(PORT))
const admin = createServer(operator.admin.handler).listen(Number(ADMIN_PORT), '127.0.0.1')

process.once('SIGTERM', async () => {
  server.close() // no new requests; requests in progress are answered
  admin.close()
  await operator.stop()
  log.stop()
})
