import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import type { Summary } from '../../src/tools/cli/send/summary.ts'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { connectProxy } from '../support/connect-proxy.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { temporary } from '../support/sides.ts'
import { run, start } from './bellwire.ts'
import { type StandIn, standInKey, startStandIn } from './platform-stand-in.ts'

test('a file is sent in requests of bounded size, and the exit code is 0 if all are successful', async (t) => {
  const platform = await startStandIn(t)
  const { code, out } = await send(t, platform, lines(2_500))
  assert.equal(code, 0)
  const summary = JSON.parse(out) as Summary
  assert.deepEqual(countsOf(summary), {
    lines: 2_500,
    accepted: 2_500,
    repeated: 0,
    successful: 2_500,
    failed: 0,
    waiting: 0,
    refused: 0,
  })
  const puts = platform.requests.filter(({ path }) => path === '/admin/activities/push')
  assert.deepEqual(puts.map((put) => put.lines).toSorted(), [1_000, 1_000, 500])
  assert.equal(platform.accepted.size, 2_500)
})

test('sending the same file again counts as repeated and keeps the first outcomes', async (t) => {
  const platform = await startStandIn(t)
  await send(t, platform, lines(50))
  const { code, out } = await send(t, platform, lines(50))
  assert.equal(code, 0)
  assert.deepEqual(countsOf(JSON.parse(out) as Summary), {
    lines: 50,
    accepted: 0,
    repeated: 50,
    successful: 50,
    failed: 0,
    waiting: 0,
    refused: 0,
  })
})

test('failed and refused records are reported by reason and line number, with exit code 1', async (t) => {
  const platform = await startStandIn(t, {
    refuse: (line) => (line.includes('"bad"') ? 'activity.id is missing' : undefined),
    outcome: (line) =>
      line.includes('"1001"')
        ? { category: 'failed', reason: 'suppressed', error: 'blocked' }
        : { category: 'successful', ref: 'r' },
  })
  // After 1,500 lines the refused line is in the second request; blank lines count as lines of the file.
  const file = [...lines(1_500), '', '"bad"', '  ', record(7, 1, '1001'), record(8, 2, '1001'), '{"cut":'].join('\n')
  const { code, out } = await send(t, platform, file)
  assert.equal(code, 1)
  const summary = JSON.parse(out) as Summary
  assert.deepEqual(countsOf(summary), {
    lines: 1_504,
    accepted: 1_503,
    repeated: 0,
    successful: 1_501,
    failed: 2,
    waiting: 0,
    refused: 1,
  })
  assert.deepEqual(summary.refused_lines, [{ line: 1_502, error: 'activity.id is missing' }])
  assert.deepEqual(summary.reasons, { suppressed: { count: 2, example: 'blocked' } })
  const { out: text, code: secondCode } = await send(t, platform, file, { json: false })
  assert.equal(secondCode, 1)
  assert.match(text, /failed +2\n +2 +suppressed: blocked/)
  assert.match(text, /line 1502: activity\.id is missing/)
  assert.match(text, /repeated +1,503/)
})

test('--out writes line, id, outcome and identifier of each record, with all digits of the id', async (t) => {
  const platform = await startStandIn(t, {
    refuse: (line) => (line.includes('"user_id":""') ? 'activity.user_id is empty' : undefined),
    outcome: (line, seq) =>
      line.includes('"brand_id":2')
        ? { category: 'failed', reason: 'rejected', error: 'no' }
        : { category: 'successful', ref: `ref-${seq}` },
  })
  const file = `\n${record('9223372036854775807', 1)}\n${record('"text"', 2)}\n${record(5, 1, '')}\n`
  const folder = await temporary(t)
  const { code } = await send(t, platform, file, { args: ['--out', join(folder, 'results.ndjson')] })
  assert.equal(code, 1)
  const results = (await readFile(join(folder, 'results.ndjson'), 'utf8')).trim().split('\n').toSorted()
  assert.deepEqual(results, [
    '{"line":2,"id":9223372036854775807,"outcome":"successful","identifier":"ref-1"}',
    '{"line":3,"id":"text","outcome":"failed","reason":"rejected","error":"no"}',
    '{"line":4,"id":5,"outcome":"refused","error":"activity.user_id is empty"}',
  ])
})

test('lost answers, status 503 and a killed and restarted platform cause no losses and no duplicates', async (t) => {
  let kill: (() => void) | undefined
  const killed = new Promise<void>((resolve) => (kill = resolve))
  let cuts = 0
  const platform: StandIn = await startStandIn(t, {
    before: (request) => (request % 5 === 2 ? 503 : request === 4 ? 'cut' : undefined),
    after: async (_, path) => {
      if (path === '/admin/outcomes') return undefined
      cuts++
      if (cuts === 3) {
        kill?.() // killed between the commit and the answer
        return 'cut'
      }
      return cuts % 4 === 0 ? 'cut' : undefined
    },
  })
  const sending = send(t, platform, lines(8_000))
  await Promise.race([killed, sending])
  await platform.kill()
  await platform.restart()
  const { code, out, err } = await sending
  assert.equal(code, 0, err)
  const summary = JSON.parse(out) as Summary
  assert.equal(summary.successful, 8_000)
  assert.equal(platform.accepted.size, 8_000)
  assert.ok(summary.requests_repeated > 0)
})

test('waiting records are polled until they have an outcome', async (t) => {
  const platform = await startStandIn(t, {
    outcome: (_, __, asked) => (asked < 4 ? { category: 'waiting' } : { category: 'successful', ref: 'r' }),
  })
  const { code } = await send(t, platform, lines(30))
  assert.equal(code, 0)
})

test('records that wait after --timeout are reported as waiting, with exit code 1', async (t) => {
  const platform = await startStandIn(t, {
    outcome: (_, seq) => (seq > 12_000 ? { category: 'waiting' } : { category: 'successful', ref: 'r' }),
  })
  const { code, out } = await send(t, platform, lines(12_003), { args: ['--timeout', '1s'] })
  assert.equal(code, 1)
  const { successful, waiting } = JSON.parse(out) as Summary
  assert.deepEqual({ successful, waiting }, { successful: 12_000, waiting: 3 })
  for (const { seqs } of platform.requests) assert.ok(seqs <= 10_000)
})

test('the reasons of waiting records and deliveries without an identifier are counted', async (t) => {
  const error = 'the operator answered 200, but the body has none of successful, failed and fatal'
  const platform = await startStandIn(t, {
    outcome: (_, seq) =>
      seq > 2 ? { category: 'successful', untracked: true } : { category: 'waiting', reason: 'nonsense', error },
  })
  const { out } = await send(t, platform, lines(5), { args: ['--timeout', '300ms'] })
  const { successful, untracked, waiting, waiting_reasons: reasons } = JSON.parse(out) as Summary
  assert.deepEqual([successful, untracked, waiting], [3, 3, 2])
  assert.deepEqual(reasons, { nonsense: { count: 2, example: error } })
  const text = await send(t, platform, lines(5), { args: ['--timeout', '300ms'], json: false })
  assert.match(text.out, /successful +3\n +3 +untracked/)
  assert.match(text.out, /waiting +2 .*\n +2 +nonsense: the operator answered 200, but .*none of successful/)
})

test('--no-wait exits when all records are in the queue', async (t) => {
  const platform = await startStandIn(t, { outcome: () => ({ category: 'waiting' }) })
  const { code, out } = await send(t, platform, lines(3), { args: ['--no-wait'] })
  assert.equal(code, 0)
  assert.equal((JSON.parse(out) as Summary).waiting, 3)
})

test('- reads standard input; a byte order mark and a missing last newline are accepted', async (t) => {
  const platform = await startStandIn(t)
  const { code, out } = await run(
    ['send', '--file', '-', '--url', platform.url, '--key', standInKey, '--json'],
    {},
    `\ufeff${record(1, 1)}\r\n${record(2, 1)}`,
  )
  assert.equal(code, 0)
  assert.equal((JSON.parse(out) as Summary).successful, 2)
  assert.deepEqual([...platform.accepted.keys()], [`${record(1, 1)}\r`, record(2, 1)])
})

test('an unreachable platform causes exit code 3 and an error with advice', async (t) => {
  const platform = await startStandIn(t)
  await platform.kill()
  const { code, err } = await send(t, platform, lines(1), { args: ['--patience', '1s'] })
  assert.equal(code, 3)
  assert.match(err, /has not answered for 1 s \(ECONNREFUSED\)\. Check that the platform is running/)
  assert.match(err, /does not answer \(ECONNREFUSED\): retrying/)
  assert.doesNotMatch(err, /stand-in-key/)
})

test('--url is called through the proxy of BELLWIRE_PROXY, and with the authorities of NODE_EXTRA_CA_CERTS', async (t) => {
  const platform = await startStandIn(t)
  const certificate = makeCertificate()
  const gateway = createTlsServer(certificate, (socket) => {
    const plain = connect(Number(new URL(platform.url).port), '127.0.0.1')
    socket.pipe(plain).pipe(socket)
    for (const each of [socket, plain]) each.on('error', () => {})
  })
  const { port } = await listenLocally(t, gateway)
  const proxy = await connectProxy(t)
  const folder = await temporary(t)
  const [file, ca] = [join(folder, 'activities.ndjson'), join(folder, 'ca.pem')]
  await writeFile(file, lines(1))
  await writeFile(ca, certificate.cert)
  const args = ['send', '--file', file, '--url', `https://127.0.0.1:${port}`, '--key', standInKey, '--patience', '1s']
  // Node reads the authorities when it starts.
  const done = await start(t, args, { BELLWIRE_PROXY: proxy.url('ann', 'p'), NODE_EXTRA_CA_CERTS: ca }).ended
  assert.equal(done.code, 0, done.err)
  assert.ok(proxy.tunnels.length > 0)
  for (const tunnel of proxy.tunnels)
    assert.deepEqual(tunnel, { to: `127.0.0.1:${port}`, authorization: `Basic ${btoa('ann:p')}` })
  const wrong = await run(args, { BELLWIRE_PROXY: 'proxy:3128' })
  assert.deepEqual([wrong.code, /BELLWIRE_PROXY is not the http address/.test(wrong.err)], [2, true], wrong.err)
})

test('a platform that answers with an error is quoted, and nobody is sent to look at the network', async (t) => {
  const platform = await startStandIn(t, { before: () => 503 })
  const { code, err } = await send(t, platform, lines(1), { args: ['--patience', '1s'] })
  assert.equal(code, 3)
  assert.match(err, /has answered with an error for 1 s \(503: /)
  assert.doesNotMatch(err, /--url/)
})

test('a wrong key, a wrong address and a file that is not NDJSON or is empty cause exit code 2', async (t) => {
  const platform = await startStandIn(t, { before: (request) => (request > 1 ? 404 : undefined) })
  const wrongKey = await send(t, platform, lines(1), { key: 'another-key-000000000001' })
  assert.equal(wrongKey.code, 2)
  assert.match(wrongKey.err, /answers 401: fault 401\. Give a key .* scopes enqueue and counts/)
  const notFound = await send(t, platform, lines(1))
  assert.equal(notFound.code, 2)
  assert.match(notFound.err, /Check that --url is the address of \/admin of the platform/)
  const array = await send(t, platform, '[{"activity":{}}]')
  assert.equal(array.code, 2)
  assert.match(array.err, /jq -c/)
  for (const empty of ['', '\n']) {
    const nothing = await send(t, platform, empty)
    assert.equal(nothing.code, 2, nothing.out)
    assert.match(nothing.err, / has no record: nothing was sent/)
  }
})

test('after an interrupt the message says how to continue', async (t) => {
  const asked = Promise.withResolvers<void>()
  const platform = await startStandIn(t, {
    outcome: () => {
      asked.resolve()
      return { category: 'waiting' }
    },
  })
  const file = await fileOf(t, lines(2))
  const { child, ended } = start(t, ['send', '--file', file, '--url', platform.url, '--key', standInKey])
  await Promise.race([asked.promise, ended])
  child.kill('SIGINT')
  const { code, err } = await ended
  assert.equal(code, 1)
  assert.match(err, /send the same file again to continue/)
})

test('the address and the key are read from the configuration', async (t) => {
  const platform = await startStandIn(t)
  const folder = await temporary(t)
  await writeFile(
    join(folder, 'bellwire.yaml'),
    `platform:
  port: ${new URL(platform.url).port}
  keys:
    - {name: reader, key: only-reads-0000000000001, scopes: [counts, read]}
    - {name: crm, key: ${standInKey}, scopes: [enqueue, counts]}
`,
  )
  const { code, err } = await run(['send', '-c', join(folder, 'bellwire.yaml'), '-f', await fileOf(t, lines(2))])
  assert.equal(code, 0, err)
})

/** Two brands with the same user ids. */
function lines(count: number): string[] {
  return Array.from({ length: count }, (_, i) => record(i, (i % 2) + 1))
}

function record(id: number | string, brand: number, user = `user-${id}`): string {
  return `{"activity":{"id":${id},"brand_id":${brand},"user_id":${JSON.stringify(user)},"activity_id":7},"data":{"id":3}}`
}

function countsOf({ lines, accepted, repeated, successful, failed, waiting, refused }: Summary) {
  return { lines, accepted, repeated, successful, failed, waiting, refused }
}

interface SendOptions {
  readonly args?: readonly string[]
  readonly key?: string
  readonly json?: boolean
}

async function send(
  t: TestContext,
  platform: StandIn,
  content: string | string[],
  { args = [], key = standInKey, json = true }: SendOptions = {},
) {
  const file = await fileOf(t, content)
  return run(['send', '--file', file, '--url', platform.url, ...(json ? ['--json'] : []), ...args], {
    BELLWIRE_KEY: key,
  })
}

async function fileOf(t: TestContext, content: string | string[]): Promise<string> {
  const file = join(await temporary(t), 'activities.ndjson')
  await writeFile(file, typeof content === 'string' ? content : `${content.join('\n')}\n`)
  return file
}
