// bellwire shadow: the platform gets the answers of its operator, and each difference from Bellwire is named, with none invented.

import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { sendPaths } from '../../src/contract/endpoints.ts'
import { prepareRun } from '../../src/tools/checker/run.ts'
import { createCopies } from '../../src/tools/shadow/copies.ts'
import { createTally, type ShadowReport } from '../../src/tools/shadow/tally.ts'
import { allChecks, facts, onePushChannel } from '../checker/check-plain.ts'
import { before, isBatch, isSingle } from '../checker/mutants/mutant.ts'
import { mutants } from '../checker/mutants.ts'
import { error, key, type Mutation, startPlainOperator, users } from '../checker/plain-operator.ts'
import { start } from '../cli/bellwire.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { shadowOf } from './shadow-of.ts'

/** Sends the requests of these groups of checks through a shadow. */
async function shadowChecks(t: TestContext, only: readonly string[], mutation?: Mutation, both = false) {
  const shadow = await shadowOf(t, mutation)
  const { run } = await prepareRun({
    url: shadow.url,
    key,
    checks: allChecks,
    facts,
    rules: 'bellwire',
    mostMessages: 5_000,
    only,
    ...(!both && { features: onePushChannel }),
  })
  const { results } = await run()
  return { results, report: await shadow.stop() }
}

const groups = [
  'single',
  'batch',
  'absence',
  'ids',
  'members',
  'json',
  'malformed',
  'blocked',
  'no-device',
  'bad-item',
  'repeat',
  'auth',
]

test('a correct operator has no differences, whatever is sent to it, and all its answers come back as they were', async (t) => {
  const { results, report } = await shadowChecks(t, [...groups, 'size', 'reconciliation'])
  assert.deepEqual(report.differences, [])
  assert.ok(report.messages > 100, `${report.messages} messages were compared`)
  assert.deepEqual(
    results.filter(({ status }) => status === 'failed').map(({ check, seen }) => `${check.id}: ${seen}`),
    [],
  )
})

/** A fault of mutants.ts, and the rules that the shadow names. */
const faults: Readonly<Record<string, readonly string[]>> = {
  'returns ids as texts': ['batch.id at push/batch'],
  'reports only the first four messages': ['absence.none at push/batch'],
  'leaves out empty categories': ['batch.empty-categories at push/batch'],
  'delivers to blocked users in batches': ['blocked.batch at push/batch'],
  'names the identifier of site messages push_id': ['single.identifier at site/single'],
  'delivers each repetition of a single message': ['repeat.batch at push/batch', 'repeat.single at push/single'],
  'reports the repetition of a batch as failed': ['repeat.batch at push/batch'],
  'redirects after a delivery': ['single.status at push/single'],
  'has a message in place of an error': ['malformed.error at push/single'],
  'compares keys without upper and lower case': ['key at push/batch', 'key at push/single'],
  'leaves out the first blocked user': ['reconciliation.true at reconciliation'],
}

test('each fault of an operator is named by its rule, and no other rule', async (t) => {
  const named = await Promise.all(
    Object.keys(faults).map(async (fault) => {
      const { mutate, check, both } = mutants.find((mutant) => mutant.fault === fault) as (typeof mutants)[number]
      const { report } = await shadowChecks(t, [check.split('.')[0] as string], mutate(), both)
      return [fault, report.differences.map(({ rule, endpoint }) => `${rule} at ${endpoint}`).toSorted()] as const
    }),
  )
  assert.deepEqual(Object.fromEntries(named), faults)
})

const post = (url: string, path: string, body: unknown) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(body),
  })
const message = (id: number, user: string) => ({ activity: { id, brand_id: 1, user_id: user }, title: 'Hello' })

test('a message that is repeated after an outage is no difference; one that stays fatal while others are answered is one', async (t) => {
  let away = true
  const shadow = await shadowOf(
    t,
    before(
      (request) => isSingle(request) || isBatch(request),
      ({ text }) => (away || text.includes(users.withoutDevice) ? error(503, 'the provider is away') : undefined),
    ),
  )
  const send = async (id: number, user: string) =>
    (await post(shadow.url, sendPaths.push.single, message(id, user))).status
  assert.equal(await send(1, users.normal), 503)
  assert.equal(await send(2, users.withoutDevice), 503)
  assert.equal((await post(shadow.url, sendPaths.push.batch, [message(3, users.normal)])).status, 503)
  away = false
  assert.equal(await send(1, users.normal), 200)
  assert.equal(await send(2, users.withoutDevice), 503)
  assert.equal((await post(shadow.url, sendPaths.push.batch, [message(3, users.normal)])).status, 200)
  const { differences } = await shadow.stop()
  assert.deepEqual(
    differences.map(({ rule, count, example }) => ({ rule, count, id: example.id })),
    [{ rule: 'no-device.single', count: 1, id: '2' }],
  )
  assert.match(differences[0]?.example.operator ?? '', /^fatal in 2 attempts, while other messages were answered/)
})

test('a copy that is not answered delays nothing: the copies that wait are bounded, and the others are counted', async (t) => {
  const { url } = await listenLocally(
    t,
    createServer(() => {}),
  )
  const tally = createTally()
  const limits = { copies: 2, bytes: 1_000, atOnce: 1, answerMs: 600_000 }
  const copies = createCopies(url, { compare: () => assert.fail('nothing is answered') }, tally, limits)
  const answer = { status: 200, headers: {}, body: Buffer.from('{}') }
  const add = (request: string) =>
    copies.add({
      at: 0,
      method: 'POST',
      path: sendPaths.push.single,
      headers: {},
      request: Buffer.from(request),
      answer,
    })
  for (let i = 0; i < 5; i++) add('{}')
  add('x'.repeat(2_000))
  assert.deepEqual(
    tally.report().left_out.map(({ reason, count }) => [reason, count]),
    [['too many copies waited', 3]],
  )
})

test('the request and the answer pass byte for byte, also if the operator cuts its answer or is away', async (t) => {
  const body = Buffer.from('{"push_id" : "x"}\n')
  let seen: { url: string | undefined; headers: readonly string[]; body: string } | undefined
  const operator = createServer(async (request, response) => {
    seen = { url: request.url, headers: request.rawHeaders, body: await text(request) }
    response.writeHead(207, 'As you like', { 'X-Mine': ['a', 'b'], 'Content-Length': body.length })
    if (request.url === '/cut') response.write(body.subarray(0, 3), () => response.destroy())
    else response.end(body)
  })
  const { url, port, close } = await listenLocally(t, operator)
  const { startProxy } = await import('../../src/tools/shadow/proxy.ts')
  const reasons: string[] = []
  const proxy = await startProxy({
    to: url,
    host: '127.0.0.1',
    port: 0,
    onForwarded: () => reasons.push('copied'),
    onUncopied: (reason) => reasons.push(reason),
  })
  const answer = await fetch(`${proxy.url}/any?a=1`, { method: 'PUT', headers: { 'X-Api-Key': 'k' }, body: ' [1] ' })
  assert.deepEqual([answer.status, answer.statusText, answer.headers.get('x-mine')], [207, 'As you like', 'a, b'])
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), body)
  assert.equal(seen?.url, '/any?a=1')
  assert.equal(seen?.body, ' [1] ')
  const header = (name: string) => seen?.headers[seen.headers.findIndex((each) => each.toLowerCase() === name) + 1]
  assert.equal(header('content-length'), '5')
  assert.equal(header('host'), `127.0.0.1:${port}`)
  assert.equal(header('x-api-key'), 'k')

  await assert.rejects(fetch(`${proxy.url}/cut`, { method: 'POST', body: '{}' }).then((cut) => cut.text()))
  await until(() => reasons.length === 2, { awaited: 'the cut answer is counted' })
  await close()
  const away = await fetch(`${proxy.url}/away`, { method: 'POST', body: '{}' })
  assert.equal(away.status, 502)
  assert.match(((await away.json()) as { error: string }).error, /did not answer/)
  assert.deepEqual(reasons, ['copied', 'the operator did not answer', 'the operator did not answer'])
  await proxy.close(0)
})

test('bellwire shadow reads devices from a file, sends nothing, reports the differences and exits with 1', async (t) => {
  const provider = await listenLocally(
    t,
    createServer(() => assert.fail('the provider was called')),
  )
  const operator = await startPlainOperator({ rules: () => ({ suppressed: () => undefined }) })
  t.after(operator.stop)
  const folder = await temporary(t)
  const config = `operator:
  store: sqlite:${folder}/production.db
  keys: [{name: platform, key: ${key}, brands: [1]}]
  admin_keys: []
  push:
    devices:
      source: registry
      services:
        - {provider: http, name: mine, url: "http://127.0.0.1:${provider.port}", body: {to: "{{token}}"}, rules: [{when: {status: 404}, means: gone}]}
  suppression: none
accept_risks: [weak_keys]
`
  await writeFile(join(folder, 'bellwire.yaml'), config)
  await writeFile(join(folder, 'devices.csv'), `user_id,token,kind\n${users.normal},token-1,http:mine\n`)
  const started = start(
    t,
    [
      ...['shadow', '--operator', operator.url, '--config', join(folder, 'bellwire.yaml'), '--port', '0', '--json'],
      ...['--devices', join(folder, 'devices.csv'), '--brand', '1'],
    ],
    {},
    undefined,
    folder,
  )
  const url = await until(() => /call (http:\S+) instead/.exec(started.err())?.[1], { awaited: 'the shadow listens' })
  const sent = [message(1, users.normal), message(2, users.withoutDevice)]
  const answer = await post(url, sendPaths.push.batch, sent)
  assert.equal(((await answer.json()) as { successful: unknown[] }).successful.length, 2)
  started.child.kill('SIGINT')
  const { code, out, err } = await started.ended
  assert.equal(code, 1, err)
  const { requests, messages, differences, left_out: leftOut } = JSON.parse(out) as ShadowReport
  assert.deepEqual([requests, messages, leftOut], [1, 2, []])
  assert.deepEqual(
    differences.map(({ rule, section, example }) => [rule, section, example.id]),
    [['no-device.batch', '§7.2', '2']],
  )
  assert.deepEqual((await readdir(folder)).toSorted(), ['bellwire.yaml', 'devices.csv'])
})
