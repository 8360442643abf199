// A stand-in of the platform's /admin for `bellwire send`, with fault injection.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

export interface StandIn {
  readonly url: string
  /** All received requests, in order. */
  readonly requests: {
    readonly path: string
    readonly lines: number
    readonly key: string | undefined
    readonly seqs: number
  }[]
  /** The accepted lines with their queue numbers. */
  readonly accepted: ReadonlyMap<string, number>
  /** Closes the port and all connections; the accepted lines stay, as on disk. */
  kill(): Promise<void>
  restart(): Promise<void>
}

export interface Behaviour {
  /** Called before a request is processed: 'cut' closes its connection, a number is answered as the status. */
  readonly before?: (request: number, path: string) => 'cut' | number | undefined
  /** Called after a request was processed, before it is answered. */
  readonly after?: (request: number, path: string) => Promise<'cut' | undefined> | 'cut' | undefined
  readonly outcome?: (line: string, seq: number, asked: number) => object
  readonly refuse?: (line: string) => string | undefined
}

export const standInKey = 'stand-in-key-0000000001'

export async function startStandIn(t: TestContext, behaviour: Behaviour = {}): Promise<StandIn> {
  const requests: StandIn['requests'] = []
  const seqOf = new Map<string, number>()
  const lineOf = new Map<number, string>()
  const askedOf = new Map<number, number>()
  let server: Server | undefined
  let port = 0

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url as string
    const body = await text(request)
    const key = request.headers['x-api-key'] as string | undefined
    const json = path === '/admin/outcomes' ? (JSON.parse(body) as { seqs: number[] }) : undefined
    const lines = json ? [] : body.split('\n').slice(0, -1)
    const number = requests.push({ path, lines: lines.length, key, seqs: json?.seqs.length ?? 0 })
    const fault = key === standInKey ? behaviour.before?.(number, path) : 401
    if (fault === 'cut') return void request.socket.destroy()
    if (fault !== undefined) return void response.writeHead(fault).end(JSON.stringify({ error: `fault ${fault}` }))
    const result = json ? { outcomes: json.seqs.map(outcomeOf) } : enqueue(lines)
    if ((await behaviour.after?.(number, path)) === 'cut') return void request.socket.destroy()
    response.end(JSON.stringify(result))
  }

  function enqueue(lines: readonly string[]) {
    const result = {
      accepted: 0,
      repeated: 0,
      refused_count: 0,
      refused: [] as object[],
      seqs: [] as [number, number][],
    }
    for (const [i, line] of lines.entries()) {
      const error = behaviour.refuse?.(line)
      if (error !== undefined) {
        result.refused_count++
        if (result.refused.length < 1000) result.refused.push({ line: i + 1, error })
        continue
      }
      let seq = seqOf.get(line)
      if (seq === undefined) {
        seq = seqOf.size + 1
        seqOf.set(line, seq)
        lineOf.set(seq, line)
        result.accepted++
      } else result.repeated++
      const last = result.seqs.at(-1)
      if (last && last[1] + 1 === seq) last[1] = seq
      else result.seqs.push([seq, seq])
    }
    return result
  }

  function outcomeOf(seq: number): object {
    const asked = (askedOf.get(seq) ?? 0) + 1
    askedOf.set(seq, asked)
    const line = lineOf.get(seq) as string
    return {
      seq,
      attempts: 1,
      ...(behaviour.outcome?.(line, seq, asked) ?? { category: 'successful', ref: `ref-${seq}` }),
    }
  }

  const listen = (): Promise<void> => {
    const next = createServer(
      (request, response) => void answer(request, response).catch(() => request.socket.destroy()),
    )
    server = next
    return new Promise((resolve, reject) => {
      next.once('error', reject).listen(port, '127.0.0.1', () => {
        port = (next.address() as AddressInfo).port // reused after a restart
        resolve()
      })
    })
  }
  await listen()
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      server?.close(() => resolve())
      server?.closeAllConnections()
    })
  t.after(kill)
  return { url: `http://127.0.0.1:${port}`, requests, accepted: seqOf, kill, restart: listen }
}
