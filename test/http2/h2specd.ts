// Runs the cases of h2specd, the client mode of h2spec, against our connection.
//
// h2specd listens on one port for each case and reports the results on another: its mode for browsers. So all cases run at once in
// this process.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../../src/base/http2/connection.ts'
import { openSession } from '../../src/base/http2/session.ts'
import { freePort } from '../support/free-port.ts'
import { goProgram } from '../support/services/go.ts'
import { startServer, tryThreeTimes } from '../support/services/program.ts'
import { until } from '../support/wait.ts'

export interface Case {
  /** The section of RFC 9113 or RFC 7541, and the violation of the server. */
  readonly name: string
  readonly url: string
  readonly state: 'not run' | 'passed' | 'failed'
  /** The expected frame, and the received one. */
  readonly detail: string
}

const parallel = 8

/** @returns all cases with their results */
export async function runH2spec(): Promise<readonly Case[]> {
  const { report, stop } = await tryThreeTimes(startH2specd)
  try {
    const cases = await readCases(report)
    const left = [...cases]
    const one = async (): Promise<void> => {
      for (let next = left.shift(); next; next = left.shift()) await connectOnce(next.url)
    }
    await Promise.all(Array.from({ length: parallel }, one))
    await until(async () => (await readCases(report)).every(({ state }) => state !== 'not run'), {
      awaited: 'each case has a result',
    })
    return await readCases(report)
  } finally {
    await stop()
  }
}

async function startH2specd() {
  const folder = mkdtempSync(join(tmpdir(), 'bellwire-h2specd-'))
  const port = await freePort()
  // Below the ports that the operating system gives to other tests.
  const from = 20_000 + Math.floor(Math.random() * 10_000)
  const args = ['--strict', '--port', `${port}`, '--from-port', `${from}`, '--timeout', '3']
  const ready = /Report server is listened/
  const server = await startServer({ program: await goProgram('h2specd'), args, folder, ready })
  const report = `http://127.0.0.1:${port}/report`
  try {
    // h2specd prints the line before it listens, and ends if another program has one of its ports.
    await until(
      () =>
        fetch(report)
          .then((answer) => answer.ok)
          .catch(() => false),
      { awaited: 'h2specd reports' },
    )
  } catch (error) {
    await server.end()
    throw error
  }
  return { report, stop: () => server.end() }
}

async function readCases(report: string): Promise<readonly Case[]> {
  const html = await (await fetch(report)).text()
  const cases: Case[] = []
  let section = ''
  for (const line of html.split('<div')) {
    const made = /<span[^>]*>(.+?)<\/span><a href="(.+?)".*<\/a>(.+?)<\/div>/.exec(line)
    const text = line
      .replace(/^[^>]*>/, '')
      .replaceAll('&nbsp;', ' ')
      .replace(/<[^>]+>/g, '')
      .trim()
    if (made) {
      const [, mark, url = '', title] = made
      const state = mark === '✔' ? 'passed' : mark === '✖' ? 'failed' : 'not run'
      cases.push({ name: `${section}: ${title}`, url, state, detail: '' })
    } else if (/^\d/.test(text)) section = text.split('. ')[0] as string
    else if (cases.length > 0) {
      const last = cases.pop() as Case
      cases.push({ ...last, detail: `${last.detail} ${text}`.trim() })
    }
  }
  return cases
}

/** Opens one connection, sends a request as soon as the connection is usable, and waits until the server closes the connection. */
async function connectOnce(origin: string): Promise<void> {
  const ended = Promise.withResolvers<void>()
  let sent = false
  const limits = { streams: 100, connectTimeoutMs: 5_000, pingAfterMs: 60_000, pingTimeoutMs: 5_000 }
  const connection: Connection = openSession(
    { origin, ca: undefined, tunnel: undefined, limits },
    {
      changed() {
        if (sent || connection.freeStreams() <= 0) return
        sent = true
        connection.start({ path: '/', headers: [], body: 'hello' }, () => {})
      },
      ended: () => ended.resolve(),
    },
  )
  await Promise.race([ended.promise, sleep(10_000, undefined, { ref: false })])
  await connection.close(0)
}
