// Each broken answer, over a real socket, is refused with its reason, and nothing of it is compared.

import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { openDatabase } from '../../src/base/store/open-database.ts'
import type { RefusalReason } from '../../src/subjects/reconcile/answer-refused.ts'
import { crmStoreMigrations } from '../../src/subjects/reconcile/crm/store.ts'
import { readRun, requestRun, saveRun } from '../../src/subjects/reconcile/runs.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { listOf, startListOperator } from '../support/list-operator.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { adminKey, get, post } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'
import {
  importLines,
  type Over,
  readDiscrepancies,
  runReconciliation,
  startReconciling,
  waitUntilEnded,
} from './platform.ts'

/** Starts a server that calls `answer` with the socket when a request arrives. @returns its URL */
async function startSocketServer(t: TestContext, answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => answer(socket))
  })
  return (await listenLocally(t, server)).url
}

const ok = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
const chunked = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat([
    Buffer.from(`${ok}transfer-encoding: chunked\r\n\r\n`),
    ...parts.flatMap((part) => [
      Buffer.from(`${Buffer.byteLength(part).toString(16)}\r\n`),
      Buffer.from(part as string),
      Buffer.from('\r\n'),
    ]),
  ])
const last = '0\r\n\r\n'
const whole = (body: string | Buffer): Buffer => Buffer.concat([chunked(body), Buffer.from(last)])
const stamp = `"timestamp":"${new Date().toISOString()}"`

const broken: readonly {
  readonly title: string
  readonly sends: (socket: Socket) => void
  readonly why: RefusalReason
  readonly message: RegExp
  readonly over?: Over
}[] = [
  {
    title: 'an error at the start',
    sends: (socket) => socket.end(whole('{"error":"timeout"}')),
    why: 'error',
    message: /^timeout$/,
  },
  {
    title: 'an error in the middle of an answer that is valid JSON (row 17)',
    sends: (socket) => socket.end(whole('{"users":["a","b"],"error":"the replica went away"}')),
    why: 'error',
    message: /the replica went away/,
  },
  {
    title: 'an error with characters that cannot be stored',
    sends: (socket) => socket.end(whole('{"error":"a\\u0000b\\ud800"}')),
    why: 'error',
    message: /^a.b.$/,
  },
  {
    title: 'an answer that ends inside an id, because the connection ends',
    sends: (socket) => socket.end(`${ok}connection: close\r\n\r\n{"users":["a","bc`),
    why: 'cut_short',
    message: /after 1 ids, inside users/,
  },
  {
    title: 'an answer that ends inside an escape',
    sends: (socket) => socket.end(`${ok}connection: close\r\n\r\n{"users":["a","b\\u00`),
    why: 'cut_short',
    message: /after 1 ids/,
  },
  {
    title: 'an answer that ends after its list, without a timestamp',
    sends: (socket) => socket.end(whole('{"users":["a"]')),
    why: 'cut_short',
    message: /inside its object/,
  },
  {
    title: 'a server that closes the connection in the middle of a chunked answer',
    sends: (socket) => socket.write(chunked('{"users":["a",'), () => socket.destroySoon()),
    why: 'cut_short',
    message: /broke after 14 bytes/,
  },
  {
    title: 'a server that closes the connection before it has sent content-length bytes',
    sends: (socket) => socket.end(`${ok}content-length: 1000\r\n\r\n{"users":["a"],${stamp}}`),
    why: 'cut_short',
    message: /broke after \d+ bytes/,
  },
  {
    title: 'a server that closes the connection without an answer',
    sends: (socket) => socket.destroy(),
    why: 'unreachable',
    message: /127\.0\.0\.1/,
  },
  {
    title: 'a server that sends nothing',
    sends: () => {},
    why: 'silent',
    message: /no data for 200 ms/,
    over: { limits: { idleMs: 200 } },
  },
  {
    title: 'a server that stops sending in the middle',
    sends: (socket) => socket.write(chunked('{"users":["a",')),
    why: 'silent',
    message: /no data for 200 ms/,
    over: { limits: { idleMs: 200 } },
  },
  {
    title: 'a server that sends slowly, but without long pauses',
    sends(socket) {
      socket.write(chunked('{"users":["a"'))
      const more = setInterval(() => socket.write('4\r\n,"b"\r\n'), 20)
      socket.once('close', () => clearInterval(more))
    },
    why: 'slow',
    message: /not complete after 400 ms/,
    over: { limits: { idleMs: 300, totalMs: 400 } },
  },
  {
    title: 'a web page instead of JSON',
    sends: (socket) => socket.end(whole('<html>busy</html>')),
    why: 'not_json',
    message: /begins with "<"/,
  },
  {
    title: 'JSON with a superfluous comma',
    sends: (socket) => socket.end(whole(`{"users":["a",],${stamp}}`)),
    why: 'not_json',
    message: /at users\[1\]/,
  },
  {
    title: 'bytes that are not UTF-8',
    sends: (socket) =>
      socket.end(whole(Buffer.concat([Buffer.from('{"users":["a'), Buffer.from([0xff]), Buffer.from(`"],${stamp}}`)]))),
    why: 'not_json',
    message: /UTF-8/,
  },
  {
    title: 'a compressed answer although the request did not allow it',
    sends: (socket) => socket.end(`${ok}content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc`),
    why: 'not_json',
    message: /compressed \(gzip\)/,
  },
  {
    title: 'an id that is a number',
    sends: (socket) => socket.end(whole(`{"users":["a",1001],${stamp}}`)),
    why: 'wrong_content',
    message: /users\[1\] is a number/,
  },
  {
    title: 'users that is not an array',
    sends: (socket) => socket.end(whole(`{"users":{"a":true},${stamp}}`)),
    why: 'wrong_content',
    message: /users is not an array/,
  },
  {
    title: 'no timestamp',
    sends: (socket) => socket.end(whole('{"users":["a"]}')),
    why: 'timestamp',
    message: /no timestamp/,
  },
  {
    title: 'a timestamp that cannot be read',
    sends: (socket) => socket.end(whole('{"users":["a"],"timestamp":"yesterday"}')),
    why: 'timestamp',
    message: /yesterday/,
  },
  {
    title: 'an id that occurs twice',
    sends: (socket) => socket.end(whole(`{"users":["a","b","a"],${stamp}}`)),
    why: 'repeated',
    message: /"a"/,
  },
  {
    title: 'an id that is too long',
    sends: (socket) => socket.end(whole(`{"users":["a","${'x'.repeat(65)}"],${stamp}}`)),
    why: 'too_long',
    message: /users\[1\] is longer than 64 bytes/,
    over: { limits: { idBytes: 64 } },
  },
  {
    title: 'an id that never ends',
    sends(socket) {
      socket.write(chunked('{"users":["'))
      const more = setInterval(() => socket.write(`400\r\n${'x'.repeat(1024)}\r\n`), 1)
      socket.once('close', () => clearInterval(more))
    },
    why: 'too_long',
    message: /users\[0\]/,
  },
  {
    title: 'a list that never ends',
    sends(socket) {
      socket.write(chunked('{"users":["first"'))
      const ids = Array.from({ length: 200 }, () => ',"x"').join('')
      const more = setInterval(() => socket.write(`${ids.length.toString(16)}\r\n${ids}\r\n`), 1)
      socket.once('close', () => clearInterval(more))
    },
    why: 'grown',
    message: /more than 1001 ids/,
  },
  {
    title: '401',
    sends: (socket) => socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 21\r\n\r\n{"error":"wrong key"}\n'),
    why: 'status',
    message: /^401 wrong key$/,
  },
  {
    title: '500 with a web page',
    sends: (socket) => socket.end('HTTP/1.1 500 Oops\r\ncontent-length: 8\r\n\r\n<html/>\n'),
    why: 'status',
    message: /^500 <html\/>/,
  },
  {
    title: 'a redirect',
    sends: (socket) => socket.end('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n'),
    why: 'status',
    message: /^302, a redirect to http:\/\/127\.0\.0\.1:1\/$/,
  },
  {
    title: 'an answer that is not HTTP',
    sends: (socket) => socket.end('hello\r\n\r\n'),
    why: 'unreachable',
    message: /./,
  },
]

for (const { title, sends, why, message, over } of broken) {
  test(`refused as ${why}: ${title}`, async (t) => {
    const { url } = await startReconciling(t, 'sqlite::memory:', await startSocketServer(t, sends), over)
    await importLines(url, '1', [{ user_id: 'kept', blocked: true }])
    const run = await runReconciliation(url, '1', 'blocked')
    assert.equal(run.state, 'refused')
    assert.equal(run.refused?.why, why, run.refused?.detail)
    assert.match(run.refused.detail, message)
    assert.ok(run.refused.remedy.length > 20)
    assert.equal(run.discrepancies, null)
    assert.deepEqual(await readDiscrepancies(url, run.run), [])
  })
}

test('an operator without a server is unreachable', async (t) => {
  const { url } = await startReconciling(t, 'sqlite::memory:', 'http://127.0.0.1:1')
  assert.partialDeepStrictEqual(await runReconciliation(url, '1', 'blocked'), {
    state: 'refused',
    refused: { why: 'unreachable' },
  })
})

onSqlite('after refused answers, the next good answer is compared', async (t, store) => {
  const answers = ['{"error":"no"}', '{"users":["a"', listOf(['a'])]
  const operator = await startListOperator(t, (response) => void response.end(answers.shift()))
  const { url } = await startReconciling(t, store, operator.url)
  const states: string[] = []
  for (const _ of [1, 2, 3]) states.push((await runReconciliation(url, '1', 'blocked')).state)
  assert.deepEqual(states, ['refused', 'refused', 'done'])
})

onEachEngine(
  'a stopped platform ends its run as interrupted; the run of a killed platform is ended by the next one',
  async (t, store) => {
    const operator = await startListOperator(t, (response) => void response.write('{"users":["a",'))
    const platform = await startReconciling(t, store, operator.url)
    const started = event('run.started')
    const { body } = await post(`${platform.url}/admin/reconciliations`, { brand: '1', field: 'blocked' }, adminKey.key)
    await started
    await until(() => operator.asked.length > 0, { awaited: 'the request' })
    await platform.stop()

    // The state after SIGKILL: the run is open and has no owner.
    const file = store.startsWith('sqlite:') ? store.replace(/\.db$/, '-crm.db') : store
    const database = await openDatabase(file, { migrations: crmStoreMigrations })
    const abandoned = (await requestRun(database, '2', 'blocked', 'somebody')) as string
    const row = await readRun(database, abandoned)
    assert.ok(row)
    await saveRun(database, { ...row, state: 'streaming', started_at: Date.now(), ids: 12 })
    await database.close()

    const restarted = await startReconciling(t, store, operator.url)
    assert.equal((await get(`${restarted.url}/admin/reconciliations/${body.run}`)).body.refused.why, 'interrupted')
    assert.equal((await waitUntilEnded(restarted.url, abandoned)).refused?.why, 'interrupted')
  },
)
