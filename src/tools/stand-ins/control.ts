// The control API of the stand-ins: tests and experiments in any language can add devices, inject faults and read the results.

import { createServer, type IncomingMessage } from 'node:http'
import { judgeLocalRequest } from '../../base/http/local-request.ts'
import { limitUnanswered } from '../../base/http/unanswered.ts'
import { objectIn } from '../../base/runtime/json.ts'
import { closeServer, listenAt } from '../../base/runtime/local-server.ts'
import { readBody } from '../../base/runtime/read-body.ts'
import { type MadeDevice, type ServiceName, type StandIns, serviceNames } from './all.ts'
import { ControlError, readDeviceRequest, readFault } from './control-input.ts'
import type { Fault } from './faults.ts'
import type { ShownNotification } from './stand-in.ts'

export interface Control {
  readonly url: string
  close(): Promise<void>
}

const mostBodyBytes = 256 * 1024
const mostWaitMs = 60_000

/**
 * Starts the control API. Only programs on this machine may use it, with bodies of type `application/json`; a web page that is
 * open in a browser on this machine may not.
 *
 * | Request | Effect |
 * |---|---|
 * | `GET /` | lists the services and requests |
 * | `POST /devices` `{service, name?, app?, environment?, kind?, online?}` | adds a device: `{id, kind, token, …}` |
 * | `GET /devices` | lists the devices |
 * | `POST /devices/ID` `{online}` or `{gone: true}` | switches the device on or off; removes the app |
 * | `POST /faults` `{service, …}` as in faults.ts | adds a fault: `{id}` |
 * | `GET /faults`, `DELETE /faults`, `DELETE /faults/ID` | lists the faults; removes them |
 * | `GET /arrivals?service=…&token=…&after=N` | lists the received requests, with any answer |
 * | `GET /shown?device=ID&count=N&wait=SECONDS` | lists the shown notifications, and waits until there are `count` |
 *
 * @example const control = await startControl(await startStandIns(), { port: 4600 })
 */
export async function startControl(
  standIns: StandIns,
  { port = 0 }: { readonly port?: number } = {},
): Promise<Control> {
  const activeFaults = new Map<number, { readonly service: ServiceName; readonly fault: Fault; stop(): void }>()
  const stopping = new AbortController()
  let lastFault = 0

  const routes: readonly (readonly [method: string, path: string, serve: Serve])[] = [
    ['GET', '/', overview],
    ['GET', '/devices', () => ({ devices: standIns.devices })],
    ['POST', '/devices', ({ body }) => standIns.addDevice(readDeviceRequest(body))],
    ['POST', '/devices/ID', ({ body, id }) => change(deviceOf(id), body)],
    ['GET', '/faults', listFaults],
    ['POST', '/faults', ({ body }) => play(body)],
    ['DELETE', '/faults', () => stop([...activeFaults.keys()])],
    ['DELETE', '/faults/ID', ({ id }) => stop([id])],
    ['GET', '/arrivals', ({ query }) => arrivals(query)],
    ['GET', '/shown', ({ query }) => shown(query)],
  ]

  function overview(): object {
    const { fcm, apns, 'web-push': webPush, devices } = standIns
    return {
      fcm: { url: fcm.url, tokens: fcm.tokenEndpoint.uri, project: fcm.credentials.project_id },
      apns: { url: apns.url, sandbox: apns.sandboxUrl, topic: apns.topic },
      'web-push': { url: webPush.url, autopush: webPush.autopush },
      devices: devices.length,
      requests: routes.map(([method, path]) => `${method} ${path}`),
    }
  }

  function listFaults(): object {
    return { faults: [...activeFaults].map(([id, { service, fault }]) => ({ id, service, ...fault })) }
  }

  function deviceOf(id: number): MadeDevice {
    const device = standIns.devices[id - 1]
    if (device) return device
    throw new ControlError(404, `there is no device ${id}: add one with POST /devices`)
  }

  function change(device: MadeDevice, body: Readonly<Record<string, unknown>>): object {
    const { online, gone } = body
    const standIn = standIns[device.service]
    if (typeof online === 'boolean') standIn.setOnline(device.token, online)
    else if (gone === true) standIn.forget(device.token)
    else throw new ControlError(400, 'expected {"online": false}, {"online": true} or {"gone": true}')
    return device
  }

  function play(body: Readonly<Record<string, unknown>>): object {
    const { service, fault } = readFault(body, (id) => deviceOf(id).token)
    const id = ++lastFault
    activeFaults.set(id, { service, fault, stop: standIns[service].play(fault) })
    return { id, service, ...fault }
  }

  function stop(ids: readonly number[]): object {
    for (const id of ids) {
      const one = activeFaults.get(id)
      if (!one) throw new ControlError(404, `there is no fault ${id}: GET /faults lists the faults`)
      one.stop()
      activeFaults.delete(id)
    }
    return { stopped: ids }
  }

  function arrivals(query: URLSearchParams): object {
    const service = query.get('service')
    const token = query.get('token')
    const names = service === null ? serviceNames : serviceNames.filter((name) => name === service)
    if (names.length === 0) throw new ControlError(400, `service must be one of ${serviceNames.join(', ')}`)
    const after = Number(query.get('after') ?? 0)
    if (!Number.isSafeInteger(after) || after < 0) throw new ControlError(400, 'after must be a number of arrivals')
    const all = names.flatMap((name) => standIns[name].arrivals.map((arrival) => ({ service: name, ...arrival })))
    // Arrivals of several services are sorted by time. Those of one service keep their order, so a new arrival never precedes an
    // old one.
    if (names.length > 1) all.sort((a, b) => a.at - b.at)
    const matching = token === null ? all : all.filter((arrival) => arrival.token === token)
    return { arrivals: matching.slice(after), next: matching.length }
  }

  async function shown(query: URLSearchParams): Promise<object> {
    const id = query.get('device')
    if (id === null) {
      const each = standIns.devices.map((device) => ({
        ...device,
        shown: standIns[device.service].shown(device.token),
      }))
      return { devices: each }
    }
    const device = deviceOf(Number(id))
    const count = Number(query.get('count') ?? 0)
    const waitMs = Math.min(mostWaitMs, Number(query.get('wait') ?? 0) * 1000)
    if (!(count >= 0 && waitMs >= 0)) throw new ControlError(400, 'count and wait must be numbers; wait is in seconds')
    return { device: device.id, shown: await whenShown(standIns, device, count, waitMs, stopping.signal) }
  }

  const handle = limitUnanswered((request, response) => {
    const send = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', connection: 'close' })
      response.end(`${JSON.stringify(body)}\n`)
    }
    answer(request)
      .then((body) => send(200, body))
      .catch((error: Error) => send(error instanceof ControlError ? error.status : 500, { error: error.message }))
  })
  const server = createServer(handle)

  async function answer(request: IncomingMessage): Promise<object> {
    const refusal = judgeLocalRequest(request)
    if (refusal) throw new ControlError(refusal.status, refusal.error)
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://control')
    const [, id] = /\/(\d+)$/.exec(pathname) ?? []
    const path = id === undefined ? pathname : pathname.replace(/\d+$/, 'ID')
    const matching = routes.filter((route) => route[1] === path)
    if (matching.length === 0) throw new ControlError(404, `${pathname} does not exist: GET / lists the requests`)
    const route = matching.find(([method]) => method === request.method)
    if (!route) throw new ControlError(405, `use ${matching.map(([method]) => method).join(' or ')} at ${pathname}`)
    const body = request.method === 'POST' ? await bodyOf(request) : {}
    return route[2]({ body, query: searchParams, id: Number(id) })
  }

  return {
    url: await listenAt(server, { port }),
    async close() {
      stopping.abort()
      await closeServer(server)
    },
  }
}

type Serve = (input: {
  readonly body: Readonly<Record<string, unknown>>
  readonly query: URLSearchParams
  readonly id: number
}) => object | Promise<object>

/** Waits until the device shows `count` notifications, but no longer than `waitMs`, and returns all that it shows. */
async function whenShown(
  standIns: StandIns,
  { service, token }: MadeDevice,
  count: number,
  waitMs: number,
  signal: AbortSignal,
): Promise<readonly ShownNotification[]> {
  const standIn = standIns[service]
  if (standIn.shown(token).length >= count || waitMs === 0) return standIn.shown(token)
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, waitMs)
  const removeListener = standIn.onShown((shownAt) => {
    if (shownAt === token && standIn.shown(token).length >= count) resolve()
  })
  signal.addEventListener('abort', () => resolve(), { once: true })
  await promise
  clearTimeout(timer)
  removeListener()
  return standIn.shown(token)
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const body = await readBody(request, mostBodyBytes)
  if (body === undefined) throw new ControlError(413, `the body is larger than ${mostBodyBytes} bytes`)
  const read = objectIn(body.toString() || '{}')
  if (read === undefined || Array.isArray(read)) throw new ControlError(400, 'the body must be a JSON object')
  return read
}
