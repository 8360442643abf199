// A side that runs as a process, and a client of it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Agent, type IncomingMessage, request as overHttp } from 'node:http'
import { Agent as HttpsAgent, request as overHttps } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { importOptions } from '../../../test/support/quick-imports/import-options.ts'

export interface Size {
  readonly rounds: number
  readonly perSecond: number
  readonly folder: string
}

export const tickMs = 10
/** A machine that cannot serve the rate gets a lower one. */
const mostOpen = 1_000
/** The key with the scope `reload`. */
export const office = 'the-key-of-the-office-1'

const command = join(import.meta.dirname, '../../../bin/bellwire.cjs')

export function startSide(side: 'operator' | 'platform', config: string) {
  const args = ['--disable-warning=ExperimentalWarning', ...importOptions, '--conditions=bellwire-source', command]
  const child = spawn(process.execPath, [...args, side, '-c', config], { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(child, 'exit')
  return {
    child,
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await ended
    },
  }
}

export interface Answer {
  readonly status: number
  readonly body: string
}

/** @param agent of HTTP or HTTPS */
export const createCaller =
  (port: number, agent: Agent, signal: AbortSignal) =>
  async (path: string, key: string, body?: string): Promise<Answer> => {
    const request = agent instanceof HttpsAgent ? overHttps : overHttp
    const sending = request({
      host: '127.0.0.1',
      port,
      path,
      method: body === undefined ? 'GET' : 'POST',
      agent,
      headers: {
        'x-api-key': key,
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
      signal,
    })
    sending.end(body)
    const [answer] = (await once(sending, 'response')) as [IncomingMessage]
    return { body: await text(answer), status: answer.statusCode ?? 0 }
  }

/** Sends at a steady rate, with one key at a time. */
export function createLoad(send: (key: string) => Promise<Answer>, perSecond: number) {
  const open = new Set<Promise<void>>()
  const failed: string[] = []
  let key = ''
  let requests = 0
  let timer: NodeJS.Timeout | undefined

  function sendOne(): void {
    requests++
    const used = key
    const sending = send(used)
      .then(
        ({ status, body }) => void (status === 200 || failed.push(`${used}: ${status} ${body}`)),
        (error: Error) => void failed.push(`${used}: ${error.message}`),
      )
      .finally(() => open.delete(sending))
    open.add(sending)
  }

  return {
    start(first: string): void {
      key = first
      const began = performance.now()
      timer = setInterval(() => {
        const due = ((performance.now() - began) * perSecond) / 1_000
        while (requests < due && open.size < mostOpen) sendOne()
      }, tickMs)
    },
    /** Resolves when no request with the former key is in progress. */
    async change(next: string): Promise<void> {
      key = next
      await Promise.all(open)
    },
    async stop() {
      clearInterval(timer)
      await Promise.all(open)
      return { requests, failed }
    },
  }
}
