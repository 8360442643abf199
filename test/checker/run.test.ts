// The runner: findings of the connection and of the preparation are never findings about the operator.

import assert from 'node:assert/strict'
import test from 'node:test'
import { CouldNotRun } from '../../src/tools/checker/preflight.ts'
import { prepareRun } from '../../src/tools/checker/run.ts'
import { freePort } from '../support/free-port.ts'
import { allChecks, checkPlain, facts, failedChecks, pace, withPace } from './check-plain.ts'
import { before, isSingle, whileRunning } from './mutants/mutant.ts'
import { error, failingField, key, type Mutation, startPlainOperator, users } from './plain-operator.ts'

const options = { key, checks: allChecks, facts, rules: 'bellwire', mostMessages: 5_000 } as const
const quick = { ...facts, pace: { ...pace, timeout: 400, patience: 300 } }
const couldNotRun = (pattern: RegExp) => (thrown: unknown) =>
  thrown instanceof CouldNotRun && pattern.test(`${thrown.message}\n${thrown.remedy}`)

test('an operator that cannot be reached is a finding of the connection', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  await assert.rejects(prepareRun({ ...options, url, facts: quick }), couldNotRun(/ECONNREFUSED[\s\S]*check --url/))
})

test('a wrong key ends the run before the first message', async (t) => {
  const operator = await startPlainOperator()
  t.after(operator.stop)
  await assert.rejects(
    prepareRun({ ...options, url: operator.url, key: 'wrong' }),
    couldNotRun(/refuses the API key[\s\S]*push\.single: status 401[\s\S]*BELLWIRE_KEY/),
  )
})

test('a wrong address ends the run before the first message', async (t) => {
  const operator = await startPlainOperator()
  t.after(operator.stop)
  const url = `${operator.url}/channels`
  await assert.rejects(prepareRun({ ...options, url }), couldNotRun(/none of the endpoints[\s\S]*without \/channels/))
})

test('an operator that dies during the run has no failed check after its death', async () => {
  let requests = 0
  const outcome = await checkPlain(
    { onSocket: (incoming) => void (++requests > 60 && incoming.socket.destroy()) },
    withPace({ patience: 300 }),
  )
  assert.deepEqual(failedChecks(outcome), [])
  assert.match(outcome.stopped ?? '', /cannot be reached since "/)
  const judged = outcome.results.filter(({ status }) => status === 'passed')
  const others = outcome.results.filter(({ status }) => status === 'not_judged')
  assert.ok(judged.length > 5 && others.length > 100, `${judged.length} passed, ${others.length} not judged`)
})

for (const { back, shown } of [
  { back: true, shown: 'and is started again' },
  { back: false, shown: 'and stays away' },
])
  test(`an operator that dies when the caller leaves ${shown} has a finding`, async (t) => {
    const operator = await startPlainOperator({
      onSocket: (_, response) =>
        response.once('close', () => {
          if (response.writableFinished) return
          if (back) void operator.restart()
          else operator.stop()
        }),
    })
    t.after(() => operator.stop())
    const prepared = await prepareRun({ ...options, url: operator.url, facts: quick, only: ['time.cut-answer'] })
    const outcome = await prepared.run()
    assert.deepEqual(failedChecks(outcome), ['time.cut-answer'])
    const { seen = '' } = outcome.results.find(({ status }) => status === 'failed') ?? {}
    assert.match(seen, /right after the checker closed the connection of another request/)
  })

test('a short interruption of the network is no finding about the operator', async () => {
  let requests = 0
  let downUntil: number | undefined
  const outcome = await checkPlain({
    onSocket: (incoming) => {
      if (++requests === 40) downUntil = performance.now() + 100
      if (downUntil !== undefined && performance.now() < downUntil) incoming.socket.destroy()
    },
  })
  assert.deepEqual(failedChecks(outcome), [])
  assert.equal(outcome.stopped, undefined)
  assert.ok(outcome.results.some(({ status }) => status === 'not_judged'))
})

test('a request that is never answered is a finding, if the operator answers others', async () => {
  const silent: Mutation = before(
    (request) => isSingle(request) && request.headers['content-type'] === 'text/plain',
    () => new Promise(() => {}),
  )
  const outcome = await checkPlain(silent, { facts: quick, only: ['http'] })
  assert.deepEqual(failedChecks(outcome), ['http.other-type'])
  const failed = outcome.results.find(({ status }) => status === 'failed')
  assert.match(failed?.seen ?? '', /no complete answer within 0\.4 s, although the operator answered another request/)
})

test('without any success, checks prove nothing and say so', async () => {
  const { results } = await checkPlain(
    before(isSingle, () => error(422, 'no such user')),
    { only: ['single', 'repeat'] },
  )
  const singles = results.filter(({ target, status }) => target.mode === 'single' && status !== 'skipped')
  assert.ok(singles.length > 10)
  for (const { check, status, noSuccess, seen } of singles) {
    assert.equal(status, 'not_judged', check.id)
    assert.equal(noSuccess, true, check.id)
    assert.match(seen ?? '', /not delivered \(status 422: no such user\)/)
  }
})

test('a channel that is not offered is not applicable, unless it is declared', async (t) => {
  const operator = await startPlainOperator(
    before(
      ({ path }) => path.startsWith('/channels/site'),
      () => error(404, 'no such path'),
    ),
  )
  t.after(operator.stop)
  const prepared = await prepareRun({ ...options, url: operator.url, only: ['endpoint', 'single'] })
  assert.deepEqual(prepared.notOffered, ['site.single', 'site.batch'])
  const { results } = await prepared.run()
  const site = results.filter(({ target }) => target.channel === 'site')
  assert.ok(site.length > 5 && site.every(({ status }) => status === 'not_applicable'))
  const declared = await prepareRun({
    ...options,
    url: operator.url,
    only: ['endpoint', 'single'],
    features: ['push.single', 'site.single'],
  })
  assert.deepEqual(failedChecks(await declared.run()), ['endpoint.offered'])
})

test('only named users are messaged, every message is marked, and no more are sent than announced', async (t) => {
  const seen: string[] = []
  const operator = await startPlainOperator({
    wrap: (next) => async (request) => {
      if (request.path.startsWith('/channels')) seen.push(request.text)
      return next(request)
    },
  })
  t.after(operator.stop)
  const prepared = await prepareRun({ ...options, url: operator.url, facts: { ...facts, restart: operator.restart } })
  const { messages } = await prepared.run()
  const text = seen.join('\n')
  const named = new Set([...text.matchAll(/"user_id": ?"([^"]*)"/g)].map(([, user = '']) => JSON.parse(`"${user}"`)))
  assert.deepEqual(named, new Set(Object.values(users)))
  const records = text.match(/"activity": ?\{/g)?.length ?? 0
  // Some messages are malformed on purpose, and one has no trigger_hash for each channel.
  const marks = text.match(new RegExp(`bellwire-check-${prepared.mark}`, 'g'))?.length ?? 0
  assert.ok(marks >= records - 2, `${marks} of ${records}`)
  assert.ok(records <= messages && messages <= prepared.messages, `${records}, ${messages}, ${prepared.messages}`)
})

test('a run that could send too many messages does not begin', async (t) => {
  const operator = await startPlainOperator()
  t.after(operator.stop)
  await assert.rejects(
    prepareRun({ ...options, url: operator.url, mostMessages: 100 }),
    couldNotRun(/would send up to \d+ messages, and --max-messages is 100/),
  )
})

test('a check whose preparation is missing is skipped, and says how to prepare it', async () => {
  const { brand, content, batchMax } = facts
  const noFailingField: Mutation = {
    rules: ({ list }) => ({ list: (field) => (field === failingField ? error(501, 'no source') : list(field)) }),
  }
  const { results } = await checkPlain(noFailingField, {
    facts: { brand, content, batchMax, batchMaxAgreed: false, known: {}, users: { normal: users.normal }, pace },
  })
  const skipped = results.filter(({ status }) => status === 'skipped')
  assert.deepEqual(
    [...new Set(skipped.map(({ check }) => check.id))],
    [
      'blocked.single',
      'blocked.error',
      'blocked.status',
      'no-device.single',
      'blocked.batch',
      'no-device.batch',
      'repeat.failed',
      'size.over',
      'reconciliation.true',
      'reconciliation.no-source',
      'reconciliation.error',
      'restart.identifier',
      'restart.no-refusal',
    ],
  )
  for (const { prepare } of skipped) assert.match(prepare ?? '', /--|in the file/)
  assert.equal(results.filter(({ status }) => status === 'failed' || status === 'not_judged').length, 0)
})

test('the rule set interface has neither decisions nor the rules of the vendor', async () => {
  const { results } = await checkPlain(undefined, { rules: 'interface', only: ['http', 'ids', 'malformed'] })
  const ids = new Set(results.map(({ check }) => check.id))
  assert.ok(ids.has('http.charset') && ids.has('ids.digits'))
  for (const id of ['http.tracking', 'ids.text', 'malformed.status']) assert.ok(!ids.has(id), id)
})

test('an interrupted run reports what was judged', async (t) => {
  const operator = await startPlainOperator()
  t.after(operator.stop)
  const prepared = await prepareRun({ ...options, url: operator.url })
  const controller = new AbortController()
  const { results, stopped } = await prepared.run({
    signal: controller.signal,
    onResult: (_, done) => void (done === 20 && controller.abort()),
  })
  assert.equal(stopped, 'the run was interrupted')
  assert.equal(results.length, prepared.total)
  assert.ok(results.filter(({ status }) => status === 'passed').length < 60)
  assert.deepEqual(failedChecks({ results } as Parameters<typeof failedChecks>[0]), [])
})

test('a restart that fails is a finding about the preparation', async () => {
  const restart = () => Promise.reject(new Error('the restart command exited with 1'))
  const { results } = await checkPlain(undefined, { facts: { ...facts, restart }, only: ['restart'] })
  for (const { status, seen } of results) {
    assert.equal(status, 'not_judged')
    assert.match(seen ?? '', /the restart command exited with 1/)
  }
  assert.equal(results.length, 2)
})

test('requests that run at the same time are all recorded, in the order of sending', async () => {
  const { results } = await checkPlain(
    whileRunning(isSingle, (_, running) => (running.length >= 10 ? error(429, 'too many') : undefined)),
    { only: ['time.burst'] },
  )
  const { exchanges = [], seen = '' } = results.find(({ status }) => status === 'failed') ?? {}
  assert.equal(exchanges.length, 21)
  assert.equal(exchanges[1]?.label, 'message 1 of 20 at once')
  assert.match(seen, /message \d+ of 20 at once: status 429/)
})

test('a failing field that is also among the fields hides no check of the other lists', async () => {
  const { results } = await checkPlain(undefined, {
    facts: { ...facts, fields: [...facts.fields, failingField] },
    only: ['reconciliation'],
  })
  const others = results.filter(({ status }) => status !== 'passed' && status !== 'not_applicable')
  assert.deepEqual(
    others.map(({ check, target, status }) => `${check.id} (${target.name}) ${status}`),
    [],
  )
})

test('an operator that closes the connection of a request without a message has its endpoints, and no success', async () => {
  const outcome = await checkPlain(
    {
      wrap: (next) => async (request) =>
        request.text === '{}' ? Promise.reject(new Error('KeyError')) : next(request),
    },
    { only: ['endpoint', 'auth.accepted', 'malformed', 'single'] },
  )
  assert.deepEqual(failedChecks(outcome), [])
  assert.deepEqual(
    outcome.results.filter(({ status }) => status === 'not_judged'),
    [],
  )
})
