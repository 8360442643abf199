// A server with open streams of one user. argv: `inbox`, the inbox on a store, or `bare`, a loop that writes the same bytes; the store.

import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { appRoutes } from '../../src/base/http/app-access.ts'
import { createHttp, listen } from '../../src/base/http/http.ts'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { on } from '../../src/base/runtime/events.ts'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { createInbox, inboxMigrations } from '../../src/subjects/inbox/inbox.ts'
import { encodeEvent, notificationJson } from '../../src/subjects/inbox/notification.ts'
import { inboxRoutes } from '../../src/subjects/inbox/routes.ts'
import { handleCalls } from '../harness/handle-calls.ts'

const [role = '', store = ''] = process.argv.slice(2)
const secret = 'the-secret-of-the-benchmark-long-enough'
const brand = '1'
const userId = '1001'
const content = { title: 'Your parcel is on its way', body: 'It arrives tomorrow between 10 and 12.', url: '/orders/1' }
const collectGarbage = (globalThis as { gc?: () => void }).gc

const { port, push } = role === 'bare' ? await startBare() : await startInbox()
handleCalls({
  port: () => port,
  token: () => createSubscriberToken({ secret, brand, userId, ttlSeconds: 3_600 }),
  /** Pushes one notification. @returns the seconds until it was written to all connections */
  push,
  /** Resident memory in bytes, after a garbage collection. */
  async memory() {
    for (let i = 0; i < 3; i++) {
      collectGarbage?.()
      await sleep(100)
    }
    return process.memoryUsage().rss
  },
  /**
   * Pushes one notification. @returns the most CPU time of this thread between two turns of the event loop, in milliseconds.
   * On a machine with other work, the time on the clock would contain that work.
   */
  async longestTurn(streams: number) {
    let watching = true
    let longest = 0
    let before = process.threadCpuUsage()
    const watch = (): void => {
      const { user, system } = process.threadCpuUsage(before)
      longest = Math.max(longest, user + system)
      before = process.threadCpuUsage()
      if (watching) setImmediate(watch)
    }
    watch()
    await push(streams)
    // The turn of the last writes ends.
    await sleep(0)
    watching = false
    return longest / 1000
  },
})

type PushServer = { readonly port: number; push(streams: number): Promise<number> }

async function startInbox(): Promise<PushServer> {
  const database = await openDatabase(store, { migrations: inboxMigrations })
  const provider = createInbox({ database })
  const app = createHttp('operator', 1_000_000)
  const most = 20_000
  const { routes } = inboxRoutes({ databaseOf: () => database, streams: most, streamsPerUser: most, pingMs: 3_600_000 })
  await appRoutes(app, { secrets: [secret], origins: [], brands: ['1'] }, routes)
  await app.ready()
  const { url } = await listen('operator', (request, response) => app.routing(request, response), {
    connectionsPerAddress: most,
  })
  let id = 0
  return {
    port: Number(new URL(url).port),
    async push(streams) {
      const text = JSON.stringify({ activity: { id: ++id }, ...content })
      const ref = uuidv7()
      const message = {
        brand,
        channel: 'site',
        id: String(id),
        userId,
        key: ref,
        ref,
        text,
        attempt: 1,
        context: {},
      } as const
      const context = { deadline: Date.now() + 10_000, signal: new AbortController().signal }
      const [result] = await provider.send([message], context)
      const written = Promise.withResolvers<void>()
      const off = on('inbox.shown', (shown) => {
        if (shown.ref === ref && shown.streams === streams) written.resolve()
      })
      const began = performance.now()
      await database.commit(result?.writes ?? [])
      await written.promise
      off()
      return (performance.now() - began) / 1000
    },
  }
}

async function startBare(): Promise<PushServer> {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    socket.once('data', () => {
      socket.write(
        'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nretry: 2000\n\nid: 0\nevent: counts\ndata: {"unseen":0,"unread":0}\n\nid: 0\nevent: ready\ndata: {}\n\n',
      )
      sockets.add(socket)
    })
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4096, resolve))
  let seq = 0
  return {
    port: (server.address() as AddressInfo).port,
    async push() {
      const row = { brand, user_id: userId, ref: uuidv7(), id: String(++seq), image_url: null, data: null, ...content }
      const marks = { seen_at: null, read_at: null, clicked_at: null, dismissed_at: null, archived_at: null }
      const began = performance.now()
      const json = notificationJson({ ...row, ...marks, created_at: Date.now(), expires_at: null })
      const counts = JSON.stringify({ unseen: seq, unread: seq })
      const bytes = Buffer.concat([encodeEvent('notification', seq, json), encodeEvent('counts', seq, counts)])
      for (const socket of sockets) socket.write(bytes)
      return (performance.now() - began) / 1000
    },
  }
}
