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
const chunk = (part: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`${Buffer.byteLength(part).toString(16)}\r\n`),
    Buffer.from(part as string),
    Buffer.from('\r\n'),
  ])
const begin = (part: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${ok}transfer-encoding: chunked\r\n\r\n`), chunk(part)])
const stamp = `"timestamp":"${new Date().toISOString()}"`

type Sends = (socket: Socket) => void
/** Sends these bytes and ends the connection. */
const bytes =
  (raw: string): Sends =>
  (socket) =>
    socket.end(raw)
/** Sends a complete response with this body. */
const body =
  (text: string | Buffer): Sends =>
  (socket) =>
    socket.end(Buffer.concat([begin(text), Buffer.from('0\r\n\r\n')]))
/** Sends the beginning of a body, and then the same part again and again. */
const endless =
  (first: string, part: string, everyMs: number): Sends =>
  (socket) => {
    socket.write(begin(first))
    const more = setInterval(() => socket.write(chunk(part)), everyMs)
    socket.once('close', () => clearInterval(more))
  }
const cut = `${ok}connection: close\r\n\r\n{"users":["a",`
const notUtf8 = Buffer.from(`{"users":["a\xff"],${stamp}}`, 'latin1')
const tooManyIds = ',"x"'.repeat(200)

const broken: readonly (readonly [RefusalReason, string, Sends, RegExp, Over?])[] = [
  ['error', 'an error at the start', body('{"error":"timeout"}'), /^timeout$/],
  [
    'error',
    'an error in the middle of an answer that is valid JSON (row 17)',
    body('{"users":["a","b"],"error":"the replica went away"}'),
    /the replica went away/,
  ],
  ['error', 'an error with characters that cannot be stored', body('{"error":"a\\u0000b\\ud800"}'), /^a.b.$/],
  [
    'cut_short',
    'an answer that ends inside an id, because the connection ends',
    bytes(`${cut}"bc`),
    /after 1 ids, inside users/,
  ],
  ['cut_short', 'an answer that ends inside an escape', bytes(`${cut}"b\\u00`), /after 1 ids/],
  ['cut_short', 'an answer that ends after its list, without a timestamp', body('{"users":["a"]'), /inside its object/],
  [
    'cut_short',
    'a server that closes the connection in the middle of a chunked answer',
    (socket) => socket.write(begin('{"users":["a",'), () => socket.destroySoon()),
    /broke after 14 bytes/,
  ],
  [
    'cut_short',
    'a server that closes the connection before it has sent content-length bytes',
    bytes(`${ok}content-length: 1000\r\n\r\n{"users":["a"],${stamp}}`),
    /broke after \d+ bytes/,
  ],
  [
    'unreachable',
    'a server that closes the connection without an answer',
    (socket) => socket.destroy(),
    /127\.0\.0\.1/,
  ],
  ['silent', 'a server that sends nothing', () => {}, /no data for 200 ms/, { limits: { idleMs: 200 } }],
  [
    'silent',
    'a server that stops sending in the middle',
    (socket) => socket.write(begin('{"users":["a",')),
    /no data for 200 ms/,
    { limits: { idleMs: 200 } },
  ],
  [
    'slow',
    'a server that sends slowly, but without long pauses',
    endless('{"users":["a"', ',"b"', 20),
    /not complete after 400 ms/,
    { limits: { idleMs: 300, totalMs: 400 } },
  ],
  ['not_json', 'a web page instead of JSON', body('<html>busy</html>'), /begins with "<"/],
  ['not_json', 'JSON with a superfluous comma', body(`{"users":["a",],${stamp}}`), /at users\[1\]/],
  ['not_json', 'bytes that are not UTF-8', body(notUtf8), /UTF-8/],
  [
    'not_json',
    'a compressed answer although the request did not allow it',
    bytes(`${ok}content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc`),
    /compressed \(gzip\)/,
  ],
  ['wrong_content', 'an id that is a number', body(`{"users":["a",1001],${stamp}}`), /users\[1\] is a number/],
  ['wrong_content', 'users that is not an array', body(`{"users":{"a":true},${stamp}}`), /users is not an array/],
  ['timestamp', 'no timestamp', body('{"users":["a"]}'), /no timestamp/],
  ['timestamp', 'a timestamp that cannot be read', body('{"users":["a"],"timestamp":"yesterday"}'), /yesterday/],
  ['repeated', 'an id that occurs twice', body(`{"users":["a","b","a"],${stamp}}`), /"a"/],
  [
    'too_long',
    'an id that is too long',
    body(`{"users":["a","${'x'.repeat(65)}"],${stamp}}`),
    /users\[1\] is longer than 64 bytes/,
    { limits: { idBytes: 64 } },
  ],
  ['too_long', 'an id that never ends', endless('{"users":["', 'x'.repeat(1024), 1), /users\[0\]/],
  ['grown', 'a list that never ends', endless('{"users":["first"', tooManyIds, 1), /more than 1001 ids/],
  [
    'status',
    '401',
    bytes('HTTP/1.1 401 Unauthorized\r\ncontent-length: 21\r\n\r\n{"error":"wrong key"}\n'),
    /^401 wrong key$/,
  ],
  ['status', '500 with a web page', bytes('HTTP/1.1 500 Oops\r\ncontent-length: 8\r\n\r\n<html/>\n'), /^500 <html\/>/],
  [
    'status',
    'a redirect',
    bytes('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n'),
    /^302, a redirect to http:\/\/127\.0\.0\.1:1\/$/,
  ],
  ['unreachable', 'an answer that is not HTTP', bytes('hello\r\n\r\n'), /./],
]

test('a broken answer is refused with its reason, and nothing of it is compared', async (t) => {
  let answer: Sends = () => {}
  const operator = await startSocketServer(t, (socket) => answer(socket))
  const start = async (t: TestContext, over?: Over): Promise<string> => {
    const { url } = await startReconciling(t, 'sqlite::memory:', operator, over)
    await importLines(url, '1', [{ user_id: 'kept', blocked: true }])
    return url
  }
  const common = await start(t)
  for (const [why, title, sends, message, over] of broken)
    await t.test(`refused as ${why}: ${title}`, async (t) => {
      answer = sends
      const url = over === undefined ? common : await start(t, over)
      const run = await runReconciliation(url, '1', 'blocked')
      assert.equal(run.state, 'refused')
      assert.equal(run.refused?.why, why, run.refused?.detail)
      assert.match(run.refused.detail, message)
      assert.ok(run.refused.remedy.length > 20)
      assert.equal(run.discrepancies, null)
      assert.deepEqual(await readDiscrepancies(url, run.run), [])
    })
})

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
