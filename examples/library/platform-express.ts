// A platform in your own server: Express 5. See docs/library.md.

import { createServer } from 'node:http'
import { createPlatform, operatorApi, startLog } from 'bellwire'
import express from 'express'

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

const app = express()
app.use('/bellwire', platform.handler) // before express.json(), which would read the bodies
app.use(express.json())
app.get('/', (_request, response) => void response.send('Your page'))

const server = app.listen(Number(PORT))
const admin = createServer(platform.admin.handler).listen(Number(ADMIN_PORT), '127.0.0.1')

process.once('SIGTERM', async () => {
  server.close() // no new requests; requests in progress are answered
  admin.close()
  await platform.stop()
  log.stop()
})
