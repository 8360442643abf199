// Every broken answer, over a real socket: it is refused with the reason, and nothing of it is believed.

import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { crmStoreMigrations } from '../../src/reconcile/crm/store.ts'
import type { Why } from '../../src/reconcile/refusal.ts'
import { askRun, readRun, saveRun } from '../../src/reconcile/runs.ts'
import { openDatabase } from '../../src/store/open-database.ts'
import { onEachEngine } from '../support/engines.ts'
import { listOf, startListOperator } from '../support/list-operator.ts'
import { adminKey, get, post } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'
import { ended, foundBy, importLines, type Over, runTo, startReconciling } from './platform.ts'

/** Hands over the socket when the request has arrived. */
async function startSocket(t: TestContext, answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('data', () => answer(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
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
const stamp = '"timestamp":"2020-01-01T10:00:00Z"'

const broken: readonly {
  readonly says: string
  readonly sends: (socket: Socket) => void
  readonly why: Why
  readonly words: RegExp
  readonly over?: Over
}[] = [
  {
    says: 'an error at the start',
    sends: (socket) => socket.end(whole('{"error":"timeout"}')),
    why: 'error',
    words: /^timeout$/,
  },
  {
    says: 'an error in the middle, the JSON closed all the same (row 17)',
    sends: (socket) => socket.end(whole('{"users":["a","b"],"error":"the replica went away"}')),
    why: 'error',
    words: /the replica went away/,
  },
  {
    says: 'an error whose words no store keeps',
    sends: (socket) => socket.end(whole('{"error":"a\\u0000b\\ud800"}')),
    why: 'error',
    words: /^a.b.$/,
  },
  {
    says: 'an answer cut inside an id, by a connection that simply ends',
    sends: (socket) => socket.end(`${ok}connection: close\r\n\r\n{"users":["a","bc`),
    why: 'cut_short',
    words: /after 1 ids, inside users/,
  },
  {
    says: 'an answer cut inside an escape',
    sends: (socket) => socket.end(`${ok}connection: close\r\n\r\n{"users":["a","b\\u00`),
    why: 'cut_short',
    words: /after 1 ids/,
  },
  {
    says: 'an answer cut after its list: no timestamp',
    sends: (socket) => socket.end(whole('{"users":["a"]')),
    why: 'cut_short',
    words: /inside its object/,
  },
  {
    says: 'a server that dies in the middle of a chunked answer',
    sends: (socket) => socket.write(chunked('{"users":["a",'), () => socket.destroySoon()),
    why: 'cut_short',
    words: /broke after 14 bytes/,
  },
  {
    says: 'a server that dies before it has sent as much as it promised',
    sends: (socket) => socket.end(`${ok}content-length: 1000\r\n\r\n{"users":["a"],${stamp}}`),
    why: 'cut_short',
    words: /broke after \d+ bytes/,
  },
  {
    says: 'a server that dies before it answers',
    sends: (socket) => socket.destroy(),
    why: 'unreachable',
    words: /127\.0\.0\.1/,
  },
  {
    says: 'a server that says nothing',
    sends: () => {},
    why: 'silent',
    words: /nothing for 200 ms/,
    over: { limits: { idleMs: 200 } },
  },
  {
    says: 'a server that stops in the middle',
    sends: (socket) => socket.write(chunked('{"users":["a",')),
    why: 'silent',
    words: /nothing for 200 ms/,
    over: { limits: { idleMs: 200 } },
  },
  {
    says: 'a server that trickles, never silent for long',
    sends(socket) {
      socket.write(chunked('{"users":["a"'))
      const more = setInterval(() => socket.write('4\r\n,"b"\r\n'), 20)
      socket.once('close', () => clearInterval(more))
    },
    why: 'slow',
    words: /not done within 400 ms/,
    over: { limits: { idleMs: 300, totalMs: 400 } },
  },
  {
    says: 'a page instead of JSON',
    sends: (socket) => socket.end(whole('<html>busy</html>')),
    why: 'not_json',
    words: /begins with "<"/,
  },
  {
    says: 'JSON with a comma too many',
    sends: (socket) => socket.end(whole(`{"users":["a",],${stamp}}`)),
    why: 'not_json',
    words: /at users\[1\]/,
  },
  {
    says: 'bytes that are not UTF-8',
    sends: (socket) =>
      socket.end(whole(Buffer.concat([Buffer.from('{"users":["a'), Buffer.from([0xff]), Buffer.from(`"],${stamp}}`)]))),
    why: 'not_json',
    words: /UTF-8/,
  },
  {
    says: 'a compressed answer that nobody asked for',
    sends: (socket) => socket.end(`${ok}content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc`),
    why: 'not_json',
    words: /compressed \(gzip\)/,
  },
  {
    says: 'an id that is a number',
    sends: (socket) => socket.end(whole(`{"users":["a",1001],${stamp}}`)),
    why: 'wrong_content',
    words: /users\[1\] is a number/,
  },
  {
    says: 'users that are no list',
    sends: (socket) => socket.end(whole(`{"users":{"a":true},${stamp}}`)),
    why: 'wrong_content',
    words: /users is not an array/,
  },
  {
    says: 'no timestamp',
    sends: (socket) => socket.end(whole('{"users":["a"]}')),
    why: 'timestamp',
    words: /no timestamp/,
  },
  {
    says: 'a timestamp that cannot be read',
    sends: (socket) => socket.end(whole('{"users":["a"],"timestamp":"yesterday"}')),
    why: 'timestamp',
    words: /yesterday/,
  },
  {
    says: 'an id twice',
    sends: (socket) => socket.end(whole(`{"users":["a","b","a"],${stamp}}`)),
    why: 'repeated',
    words: /"a"/,
  },
  {
    says: 'an id that is too long',
    sends: (socket) => socket.end(whole(`{"users":["a","${'x'.repeat(65)}"],${stamp}}`)),
    why: 'too_long',
    words: /users\[1\] is longer than 64 bytes/,
    over: { limits: { idBytes: 64 } },
  },
  {
    says: 'an id that never ends',
    sends(socket) {
      socket.write(chunked('{"users":["'))
      const more = setInterval(() => socket.write(`400\r\n${'x'.repeat(1024)}\r\n`), 1)
      socket.once('close', () => clearInterval(more))
    },
    why: 'too_long',
    words: /users\[0\]/,
  },
  {
    says: 'a list that never ends',
    sends(socket) {
      socket.write(chunked('{"users":["first"'))
      const ids = Array.from({ length: 200 }, () => ',"x"').join('')
      const more = setInterval(() => socket.write(`${ids.length.toString(16)}\r\n${ids}\r\n`), 1)
      socket.once('close', () => clearInterval(more))
    },
    why: 'grown',
    words: /more than 1001 ids/,
  },
  {
    says: '401',
    sends: (socket) => socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 21\r\n\r\n{"error":"wrong key"}\n'),
    why: 'status',
    words: /^401 wrong key$/,
  },
  {
    says: '500 with a page',
    sends: (socket) => socket.end('HTTP/1.1 500 Oops\r\ncontent-length: 8\r\n\r\n<html/>\n'),
    why: 'status',
    words: /^500 <html\/>/,
  },
  {
    says: 'a redirection',
    sends: (socket) => socket.end('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n'),
    why: 'status',
    words: /^302$/,
  },
  {
    says: 'what is no HTTP',
    sends: (socket) => socket.end('hello\r\n\r\n'),
    why: 'unreachable',
    words: /./,
  },
]

for (const { says, sends, why, words, over } of broken) {
  test(`refused as ${why}: ${says}`, async (t) => {
    const { url } = await startReconciling(t, 'sqlite::memory:', await startSocket(t, sends), over)
    await importLines(url, '1', [{ user_id: 'kept', blocked: true }])
    const run = await runTo(url, '1', 'blocked')
    assert.equal(run.state, 'refused')
    assert.equal(run.refused?.why, why, run.refused?.particulars)
    assert.match(run.refused.particulars, words)
    assert.ok(run.refused.remedy.length > 20)
    assert.equal(run.discrepancies, null)
    assert.deepEqual(await foundBy(url, run.run), [])
  })
}

test('an operator that is not there is unreachable', async (t) => {
  const { url } = await startReconciling(t, 'sqlite::memory:', 'http://127.0.0.1:1')
  assert.partialDeepStrictEqual(await runTo(url, '1', 'blocked'), { state: 'refused', refused: { why: 'unreachable' } })
})

onEachEngine('whatever was refused, the next good answer counts', async (t, store) => {
  const answers = ['{"error":"no"}', '{"users":["a"', listOf(['a'])]
  const operator = await startListOperator(t, (response) => void response.end(answers.shift()))
  const { url } = await startReconciling(t, store, operator.url)
  const states: string[] = []
  for (const _ of [1, 2, 3]) states.push((await runTo(url, '1', 'blocked')).state)
  assert.deepEqual(states, ['refused', 'refused', 'done'])
})

onEachEngine(
  'a platform that stops ends the run and says so; one that was killed is found out by the next',
  async (t, store) => {
    const operator = await startListOperator(t, (response) => void response.write('{"users":["a",'))
    const platform = await startReconciling(t, store, operator.url)
    const begun = event('crm.comparing')
    const { body } = await post(`${platform.url}/admin/reconciliations`, { brand: '1', field: 'blocked' }, adminKey.key)
    await begun
    await until(() => operator.asked.length > 0, { awaited: 'the request' })
    await platform.stop()

    // As SIGKILL leaves it: under way, and nobody owns it.
    const file = store.startsWith('sqlite:') ? store.replace(/\.db$/, '-crm.db') : store
    const database = await openDatabase(file, { migrations: crmStoreMigrations })
    const killed = (await askRun(database, '2', 'blocked', 'somebody')) as string
    const row = await readRun(database, killed)
    assert.ok(row)
    await saveRun(database, { ...row, state: 'streaming', started_at: Date.now(), ids: 12 })
    await database.close()

    const again = await startReconciling(t, store, operator.url)
    assert.equal((await get(`${again.url}/admin/reconciliations/${body.run}`)).body.refused.why, 'interrupted')
    assert.equal((await ended(again.url, killed)).refused?.why, 'interrupted')
  },
)
