import { readdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brands, whoIs } from './cast.ts'
import type { Clients } from './clients.ts'
import type { Journal } from './journal.ts'
import type { Records } from './records.ts'

export interface PageServer {
  readonly url: string
  /** From now on it answers what the page asks. Before, it serves its files only. */
  connect(backend: Backend): void
  close(): Promise<void>
}

export interface Backend {
  readonly operator: string
  readonly clients: Clients
  readonly journal: Journal
  readonly records: Records
}

/** The operators' web server: the page, and the little backend that knows who is signed in. Port 0 takes a free one. */
export async function startPageServer(port: number): Promise<PageServer> {
  const files = await readFiles()
  let backend: Backend | undefined
  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      if (response.headersSent) response.destroy()
      else json(response, error instanceof BadRequest ? 400 : 502, { error: error.message })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connect(given) {
      backend = given
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0] as string
    if (!path.startsWith('/demo/')) return sendFile(path, response)
    if (!backend) return json(response, 503, { error: 'the demo is starting' })
    const { operator, clients, journal, records } = backend
    switch (`${request.method} ${path}`) {
      case 'GET /demo/cast':
        return json(response, 200, { brands, operator })
      case 'GET /demo/journal':
        return follow(journal, response)
      case 'POST /demo/token': {
        const { brand, person } = await readWho(request)
        return json(response, 200, await clients.subscriberToken(brand.id, person.id))
      }
      case 'POST /demo/send': {
        const { brand, person } = await readWho(request)
        const [entry] = await journal.send([records.next('site', brand, person)])
        return json(response, 202, entry ?? {})
      }
      default:
        return json(response, 404, { error: `there is nothing at ${path}` })
    }
  }

  function sendFile(path: string, response: ServerResponse): void {
    const file = files.get(path === '/' ? '/index.html' : path)
    if (!file) {
      json(response, 404, { error: `there is nothing at ${path}` })
      return
    }
    response.writeHead(200, { ...file.headers, 'cache-control': 'no-cache' }).end(file.bytes)
  }
}

class BadRequest extends Error {}

async function readWho(request: IncomingMessage): Promise<NonNullable<ReturnType<typeof whoIs>>> {
  // A form of another site cannot send this type without being asked first.
  if (request.headers['content-type'] !== 'application/json') throw new BadRequest('send JSON')
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk
    if (text.length > 10_000) throw new BadRequest('that is too long')
  }
  const { brand, user_id: user } = JSON.parse(text) as { brand: string; user_id: string }
  const who = whoIs(brand, user)
  if (!who) throw new BadRequest(`brand ${brand} has no user ${user}`)
  return who
}

function follow(journal: Journal, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const tell = (entry: object): void => void response.write(`data: ${JSON.stringify(entry)}\n\n`)
  response.write('retry: 1000\n\n')
  journal.entries.slice(-30).forEach(tell)
  response.on('close', journal.onChange(tell))
}

function json(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
    .end(JSON.stringify(body))
}

interface File {
  readonly bytes: Buffer
  readonly headers: Readonly<Record<string, string>>
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' http://127.0.0.1:* http://localhost:*; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The files of the page and the one library that it uses, by path. */
async function readFiles(): Promise<ReadonlyMap<string, File>> {
  const files = new Map<string, File>()
  await addFolder(fileURLToPath(new URL('./page/', import.meta.url)), '/')
  await addFolder(dirname(fileURLToPath(import.meta.resolve('eventsource-parser'))), '/vendor/eventsource-parser/')
  return files

  async function addFolder(folder: string, at: string): Promise<void> {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      const type = types[extname(entry.name)]
      if (entry.isDirectory()) await addFolder(path, `${at}${entry.name}/`)
      else if (type !== undefined) {
        const headers = { 'content-type': type, 'x-content-type-options': 'nosniff', 'content-security-policy': policy }
        files.set(at + entry.name, { bytes: await readFile(path), headers })
      }
    }
  }
}
