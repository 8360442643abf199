import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { judgeHost, judgeLocalRequest } from '../../base/http/local-request.ts'
import { limitUnanswered } from '../../base/http/unanswered.ts'
import { closeServer, listenAt } from '../../base/runtime/local-server.ts'
import { readBody } from '../../base/runtime/read-body.ts'
import { createFiles } from '../../sides/console/files.ts'
import { documentOf } from '../../sides/console/layout.ts'
import { createLivePages } from '../../sides/console/live.ts'
import { createActs, type Stage } from './acts.ts'
import { brands, findPerson } from './cast.ts'
import { followEvents, phoneState } from './page-events.ts'
import { policy, readPageFiles } from './page-files.ts'
import type { Phone, Phones } from './phones.ts'
import type { Channel } from './records.ts'
import type { DemoSide } from './servers.ts'
import { composeWay, pageOf, type Scene } from './way.ts'

export interface PageServer {
  readonly url: string
  /** Enables the API of the page. Before this call, the server serves files only. */
  connect(stage: Stage): void
  close(): Promise<void>
}

/** Starts the operators' web server: the page, and a small backend with the signed-in user. Port 0 selects a free port. */
export async function startPageServer(port: number): Promise<PageServer> {
  const files = await readPageFiles()
  const versions = await createFiles().versions()
  const live = createLivePages()
  let scene: Scene | undefined
  /** Identifies this run of the demo, so that an open page detects a restart. */
  const run = randomUUID()
  const server = createServer(
    limitUnanswered((request, response) => {
      answer(request, response).catch((error: Error) => {
        if (response.headersSent) response.destroy()
        else json(response, error instanceof BadRequest ? 400 : 502, { error: error.message })
      })
    }),
  )
  return {
    url: await listenAt(server, { port }),
    connect(demo) {
      scene = { ...demo, acts: createActs(demo) }
    },
    async close() {
      live.stop()
      await closeServer(server)
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://demo')
    const isFile = !path.startsWith('/demo/')
    const port = request.socket.localPort as number
    // A link on another site may lead to the page. The other requests come from the page itself.
    const refusal = isFile ? judgeHost(request.headers.host, port) : judgeLocalRequest(withFormType(request))
    if (refusal) return json(response, refusal.status, { error: refusal.error })
    if (path === '/' && scene) return sendPage(await composeWay(scene), response)
    if (isFile) return sendFile(path, response)
    if (!scene) return json(response, 503, { error: 'the demo is starting' })
    const { servers, acts, clients, journal, records, phones } = scene
    switch (`${request.method} ${path}`) {
      case 'GET /demo/cast':
        return json(response, 200, { run, brands, operator: servers.operator.url })
      case 'GET /demo/events':
        return followEvents(journal, phones, response)
      case 'GET /demo/way': {
        const shown = scene
        return live.add(response, { 'cache-control': 'no-store' }, () => composeWay(shown))
      }
      case 'POST /demo/act': {
        const id = new URLSearchParams(await readText(request)).get('act')
        const act = acts.find((each) => each.id === id)
        if (!act) throw new BadRequest(`there is no act ${id}`)
        await act.press()
        if (request.headers['hx-request'] === undefined) return redirect(response, '/')
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
        response.end(await composeWay(scene))
        return
      }
      case 'GET /demo/console':
        return openConsole(servers[readSide(searchParams)], searchParams.get('to') ?? '', request, response)
      case 'GET /demo/docs':
        return redirect(response, `${servers[readSide(searchParams)].url}/docs`)
      case 'POST /demo/token': {
        const { brand, person } = readPerson(await readObject(request))
        return json(response, 200, await clients.subscriberToken(brand.id, person.id))
      }
      case 'POST /demo/send': {
        const body = await readObject(request)
        const { brand, person } = readPerson(body)
        const [entry] = await journal.send([records.next(readChannel(body), brand, person)])
        return json(response, 202, entry ?? {})
      }
      case 'POST /demo/phone': {
        const phone = switchPhone(await readObject(request), phones)
        return json(response, 200, phoneState(phone, phones))
      }
      default:
        return json(response, 404, { error: `there is nothing at ${path}` })
    }
  }

  function sendPage(part: string, response: ServerResponse): void {
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-store',
    })
    response.end(documentOf({ title: 'The way of a message', side: 'demo', base: '/console', versions }, pageOf(part)))
  }

  function sendFile(path: string, response: ServerResponse): void {
    const file = files.get(path === '/' || path === '/site' ? '/index.html' : path)
    if (!file) {
      json(response, 404, { error: `there is nothing at ${path}` })
      return
    }
    response.writeHead(200, { ...file.headers, 'cache-control': 'no-cache' }).end(file.bytes)
  }
}

class BadRequest extends Error {}

type RequestBody = Readonly<Record<string, unknown>>

async function readObject(request: IncomingMessage): Promise<RequestBody> {
  const value: unknown = JSON.parse(await readText(request))
  if (typeof value !== 'object' || value === null) throw new BadRequest('the body must be a JSON object')
  return value as RequestBody
}

async function readText(request: IncomingMessage): Promise<string> {
  const body = await readBody(request, 10_000)
  if (body === undefined) throw new BadRequest('the body is too long')
  return body.toString()
}

/** A form has its own content type. Browsers send Origin with it, so another site cannot send it. */
function withFormType(request: IncomingMessage): Parameters<typeof judgeLocalRequest>[0] {
  const { method = 'GET', headers, socket, url } = request
  const isForm = url === '/demo/act' && headers.origin !== undefined
  return { method, socket, headers: isForm ? { ...headers, 'content-type': 'application/json' } : headers }
}

function readSide(parameters: URLSearchParams): 'operator' | 'platform' {
  return parameters.get('side') === 'operator' ? 'operator' : 'platform'
}

/** Signs the reader in, and leads to the console. The ports of a host share their cookies. */
async function openConsole(
  { url, adminKey: key }: DemoSide,
  to: string,
  { headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const signedIn = await fetch(`${url}/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ key }).toString(),
  })
  response.setHeader('set-cookie', signedIn.headers.getSetCookie())
  const here = new URL(url)
  here.hostname = new URL(`http://${headers.host}`).hostname
  redirect(response, `${here.origin}/console${to.startsWith('/') ? to : ''}`)
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { location }).end()
}

function readPerson({ brand, user_id: user }: RequestBody): NonNullable<ReturnType<typeof findPerson>> {
  const found = findPerson(String(brand), String(user))
  if (!found) throw new BadRequest(`brand ${brand} has no user ${user}`)
  return found
}

function readChannel({ channel = 'site' }: RequestBody): Channel {
  if (channel === 'site' || channel === 'push') return channel
  throw new BadRequest('channel must be site or push')
}

function switchPhone({ id, online }: RequestBody, phones: Phones): Phone {
  if (typeof online !== 'boolean') throw new BadRequest('expected {"id": …, "online": true or false}')
  const phone = phones.setOnline(String(id), online)
  if (!phone) throw new BadRequest(`there is no phone ${id}`)
  return phone
}

function json(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
    .end(JSON.stringify(body))
}
