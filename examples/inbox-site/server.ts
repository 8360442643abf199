// A site with a bell: its page, the widget's module, and the route that makes a token for the signed-in user.
//
//   bellwire operator --config examples/bellwire.yaml
//   node examples/inbox-site/server.ts      (in a checkout of Bellwire, first: npm run build)
//   open http://127.0.0.1:7003

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

const page = await readFile(new URL('index.html', import.meta.url))
const widget = await readFile(new URL(import.meta.resolve('bellwire/inbox-element')))

createServer(async (request, response) => {
  if (request.method === 'POST' && request.url === '/bellwire-token') {
    // In your site: the user of the session, never one that the page names. Answer 401 if nobody is signed in.
    const user = '1001'
    const answer = await fetch('http://127.0.0.1:7101/admin/subscriber-tokens', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'example-operator-tokens-key' },
      body: JSON.stringify({ brand: '1', user_id: user }),
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  } else if (request.url === '/bellwire-inbox.js') {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(widget)
  } else if (request.url === '/') {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
  } else {
    response.writeHead(404).end()
  }
}).listen(7003, '127.0.0.1')
