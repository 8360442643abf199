// A minimal server of the push endpoints that stores the same rows as the operator, in the same tables and indexes: node:http,
// JSON.parse of the whole body, one transaction for the claims of all requests that wait, one for their outcomes, then the
// answers. It validates nothing, and finds no repeated message. argv: the store ('sqlite:…' or 'postgres://…').

import { closeSync, fdatasync, openSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import type pg from 'pg'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { configOf } from '../../src/base/store/postgres-address.ts'
import { createClient } from '../../src/base/store/postgres-client.ts'
import { messageMigrations } from '../../src/subjects/delivery/messages.ts'
import { requestMigrations } from '../../src/subjects/delivery/requests.ts'
import { handleCalls } from '../harness/handle-calls.ts'

interface Sent {
  readonly activity: { readonly id: number; readonly brand_id: number; readonly user_id: string }
}
interface Call {
  readonly text: string
  readonly messages: readonly Sent[]
  readonly refs: readonly string[]
  readonly response: ServerResponse
}
/** Both promises resolve after the commit. */
interface Store {
  claim(calls: readonly Call[]): Promise<void>
  settle(calls: readonly Call[]): Promise<void>
}

const messageColumns = 'brand, key, ref, user_id, owner, request, start_at, length, updated_at, chunk'
const [url = ''] = process.argv.slice(2)
const migrations = [...messageMigrations, ...requestMigrations]
await (await openDatabase(url, { migrations })).close()
const store = url.startsWith('sqlite:') ? sqliteStore(url.slice('sqlite:'.length)) : await postgresStore(url)

let waiting: Call[] = []
let claiming = false
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString()
    const sent = JSON.parse(text) as Sent | readonly Sent[]
    const messages = Array.isArray(sent) ? (sent as readonly Sent[]) : [sent as Sent]
    waiting.push({ text, messages, refs: messages.map(() => uuidv7()), response })
    if (!claiming) void claimWaiting()
  })
})
server.listen(0, '127.0.0.1', () => handleCalls({ port: () => (server.address() as AddressInfo).port }))

/** Claims all waiting calls together, until none waits. */
async function claimWaiting(): Promise<void> {
  claiming = true
  while (waiting.length > 0) {
    await new Promise(setImmediate)
    const calls = waiting
    waiting = []
    await store.claim(calls)
    void store.settle(calls).then(() => calls.forEach(answer))
  }
  claiming = false
}

function answer({ messages, refs, response }: Call): void {
  const sent = messages.length > 1 || response.req.url?.endsWith('/batch')
  const body = JSON.stringify(
    sent
      ? {
          successful: messages.map(({ activity }, i) => ({ id: activity.id, push_id: refs[i] })),
          failed: [],
          fatal: [],
        }
      : { push_id: refs[0] },
  )
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body)
}

type Row = readonly (string | number)[]

function requestRows(calls: readonly Call[]): Row[] {
  return calls.map(({ refs, text }) => [refs[0] as string, text])
}

function messageRows(calls: readonly Call[]): Row[] {
  const now = Date.now()
  const chunk = Math.floor(now / 10_000)
  return calls.flatMap(({ messages, refs }) =>
    messages.map(({ activity: { id, brand_id: brand, user_id: user } }, i) => {
      const key = JSON.stringify([String(id), user, null, null, null])
      return [String(brand), key, refs[i] as string, user, 'owner', refs[0] as string, 0, 400, now, chunk]
    }),
  )
}

function sqliteStore(path: string): Store {
  const db = new DatabaseSync(path)
  db.exec('pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = normal')
  db.exec('pragma cache_size = -65536; pragma wal_autocheckpoint = 2000; pragma temp_store = memory')
  const begin = db.prepare('begin immediate')
  const commit = db.prepare('commit')
  const insertRequest = db.prepare('insert into requests (id, text) values (?, ?)')
  const insertMessage = db.prepare(
    `insert into messages (${messageColumns}, state, attempt, uncertain)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'in_flight', 1, 0) on conflict (brand, key) do nothing`,
  )
  const settle = db.prepare(
    `update messages set state = 'successful', rule = 'accepted', updated_at = ? where ref between ? and ? and state = 'in_flight'`,
  )
  const sync = promisify(fdatasync)
  let log: number | undefined
  process.once('exit', () => log !== undefined && closeSync(log))
  let flushing: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  /** Flushes the log after the flush that runs now; all callers that wait share one flush. */
  const flush = (): Promise<void> =>
    (next ??= flushing.then(() => {
      next = undefined
      log ??= openSync(`${path}-wal`, 'r+')
      flushing = sync(log)
      return flushing
    }))
  return {
    async claim(calls) {
      begin.run()
      for (const row of requestRows(calls)) insertRequest.run(...row)
      for (const row of messageRows(calls)) insertMessage.run(...row)
      commit.run()
    },
    async settle(calls) {
      begin.run()
      for (const { refs } of calls) settle.run(Date.now(), refs[0] as string, refs.at(-1) as string)
      commit.run()
      await flush()
    },
  }
}

async function postgresStore(address: string): Promise<Store> {
  const open = async (): Promise<pg.Client> => {
    const client = createClient(configOf(address))
    await client.connect()
    await client.query('set plan_cache_mode = force_custom_plan')
    return client
  }
  const [claims, settles] = await Promise.all([open(), open()])
  await claims.query('set synchronous_commit = off')
  let last: Promise<void> = Promise.resolve()
  const types = ['text', 'text', 'text', 'text', 'text', 'text', 'bigint', 'bigint', 'bigint', 'bigint']
  const columnsOf = (rows: readonly Row[], count: number): unknown[] =>
    Array.from({ length: count }, (_, column) => rows.map((row) => row[column]))
  const unnest = types.map((type, i) => `$${i + 1}::${type}[]`).join(', ')
  return {
    async claim(calls) {
      await claims.query('begin')
      await claims.query({
        name: 'requests',
        text: 'insert into requests (id, text) select * from unnest($1::text[], $2::text[])',
        values: columnsOf(requestRows(calls), 2),
      })
      await claims.query({
        name: 'messages',
        text: `insert into messages (${messageColumns}, state, attempt, uncertain)
          select r.*, 'in_flight', 1, 0 from unnest(${unnest}) r on conflict (brand, key) do nothing`,
        values: columnsOf(messageRows(calls), types.length),
      })
      await claims.query('commit')
    },
    settle(calls) {
      const settle = {
        name: 'settle',
        text: `update messages set state = 'successful', rule = 'accepted', updated_at = $3
          from unnest($1::text[], $2::text[]) r(first, last)
          where ref between r.first and r.last and state = 'in_flight'`,
        values: [calls.map(({ refs }) => refs[0]), calls.map(({ refs }) => refs.at(-1)), Date.now()],
      }
      last = last.then(async () => void (await settles.query(settle)))
      return last
    },
  }
}
