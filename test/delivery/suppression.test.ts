// Suppression (design §5.3) through the operator's own door: asked right before the call, remembered no longer than allowed.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { AttributeSource, Field } from '../../src/attributes/attribute-source.ts'
import { functionSource } from '../../src/attributes/function.ts'
import { sqlSource } from '../../src/attributes/sql.ts'
import { createSuppression } from '../../src/delivery/suppress.ts'
import { createOperator } from '../../src/operator/create-operator.ts'
import { messages } from '../suites/provider.ts'
import { onEachEngine } from '../support/engines.ts'
import { createPlayers, playerQueries } from '../support/players.ts'
import { element, get, post, startOperator, temporary, witness } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'

const single = '/channels/push/single'
const never = new AbortController().signal

onEachEngine(
  'a user excluded a second after a successful send gets nothing more; the first message keeps its identifier',
  async (t, store) => {
    const database = await createPlayers(store)
    await database.add('1001')
    const push = witness()
    const { url } = await startOperator(t, {
      push,
      attributes: sqlSource({ database: store, queries: playerQueries }),
    })
    const first = element()
    const delivered = await post(url + single, first)
    assert.equal(delivered.status, 200)
    await database.exclude('1', '1001')
    const second = await post(url + single, element())
    assert.equal(second.status, 422)
    assert.match(second.body.error, /the user is excluded/)
    const again = await post(url + single, first)
    assert.equal(again.status, 200)
    assert.equal(again.body.push_id, delivered.body.push_id)
    assert.equal((await post(url + single, element({ brand_id: 2 }))).status, 200, 'the other brand’s 1001')
    assert.equal(push.received.length, 2)
    await database.exclude('1', '1001', false)
    assert.equal((await post(url + single, element())).status, 200, 'who is let in again is let in at once')
  },
)

test('the evidence of a refusal says why', async (t) => {
  const { url } = await startOperator(t, { attributes: functionSource(['excluded'], (_brand, users) => users) })
  const refused = event('message.settled', ({ category }) => category === 'failed')
  await post(url + single, element())
  const { ref } = await refused
  const { body } = await get(`${url}/admin/messages/${ref}`)
  assert.equal(body.outcome, 'failed')
  assert.equal(body.rule, 'suppression: the user is excluded')
  assert.match(body.refusals[0].error, /not sent: the user is excluded/)
})

test('a source that answers late cannot answer: nothing is sent', async (t) => {
  const push = witness()
  const replica: AttributeSource = {
    name: 'replica',
    fields: ['excluded'],
    among: () => new Promise((resolve) => setTimeout(resolve, 400, new Map([['excluded', new Set<string>()]]))),
  }
  const { url } = await startOperator(t, { push, attributes: replica, suppression: { timeoutMs: 50 } })
  const answer = await post(url + single, element())
  assert.equal(answer.status, 503)
  assert.match(answer.body.error, /the attribute source replica cannot answer \(no answer within 50 ms\)/)
  assert.equal(push.received.length, 0)
})

onEachEngine('a replica whose data is older than max_lag cannot answer', async (t, store) => {
  const database = await createPlayers(store)
  await database.run('create table heartbeat (at text)')
  await database.run("insert into heartbeat values ('2026-01-01T00:00:00Z')")
  await database.add('1001')
  const source = sqlSource({
    database: store,
    queries: playerQueries,
    asOf: 'select max(at) from heartbeat',
    maxLagMs: 60_000,
  })
  t.after(() => source.close?.())
  const look = { deadline: Date.now() + 10_000, signal: never }
  await assert.rejects(source.among('1', ['1001'], ['excluded'], look), /ms old, and max_lag is 60000 ms/)
  const { timestamp, chunks } = await (source.all as NonNullable<typeof source.all>)('1', 'excluded', { signal: never })
  for await (const _ of chunks);
  assert.equal(Date.parse(timestamp), Date.parse('2026-01-01T00:00:00Z'), 'the list carries the time of its data')
  await database.run(`update heartbeat set at = '${new Date().toISOString()}'`)
  assert.equal((await source.among('1', ['1001'], ['excluded'], look)).get('excluded')?.size, 0)
})

test('an answer that leaves a field out is no answer', async (t) => {
  const source = {
    ...functionSource(['blocked', 'excluded'], () => []),
    among: async () => new Map([['blocked', new Set<string>()]]),
  }
  const { url } = await startOperator(t, { attributes: source as AttributeSource })
  assert.equal((await post(url + single, element())).status, 503)
})

test('a brand that the source does not know is not sent to', async (t) => {
  const source = {
    ...functionSource(['blocked'], () => []),
    fieldsOf: (brand: string) => (brand === '1' ? ['blocked'] : []) as Field[],
  }
  const { url } = await startOperator(t, { attributes: source })
  assert.equal((await post(url + single, element())).status, 200)
  const answer = await post(url + single, element({ brand_id: 2 }))
  assert.equal(answer.status, 503)
  assert.match(answer.body.error, /knows nothing of the users of brand 2/)
})

test('all messages of a flush are one look-up for each brand', async () => {
  const { source, questions } = counting()
  const suppression = createSuppression(source, never)
  const sent = [...messages(50), ...messages(50).map((m) => ({ ...m, brand: '2' }))]
  await Promise.all(sent.map(suppression.judge))
  assert.equal(questions.length, 2)
  assert.deepEqual(questions.map(({ brand }) => brand).toSorted(), ['1', '2'])
})

test('"may be messaged" is not remembered, unless and only as long as a setting allows it; a refusal never is', async () => {
  for (const [maxStalenessMs, expected] of [
    [0, 3],
    [60_000, 1],
  ] as const) {
    const { source, questions } = counting()
    const suppression = createSuppression(source, never, { maxStalenessMs })
    for (let i = 0; i < 3; i++) assert.equal(await suppression.ask('1', '1001', 'push'), undefined)
    assert.equal(questions.length, expected)
    await suppression.ask('2', '1001', 'push')
    await suppression.ask('1', '1001', 'site')
    assert.equal(questions.length, expected + 2, 'another brand and another channel are other questions')
  }
  let refused = 0
  const refusing = functionSource(['excluded'], (_brand, users) => {
    refused++
    return users
  })
  const suppression = createSuppression(refusing, never, { maxStalenessMs: 60_000 })
  for (let i = 0; i < 3; i++) assert.match((await suppression.ask('1', '1001', 'push')) ?? '', /excluded/)
  assert.equal(refused, 3)
})

test('a message that waits for a slot is judged when its turn has come', async (t) => {
  const { source, holders } = counting()
  const gate = Promise.withResolvers<void>()
  const push = witness(async ({ ref }) => {
    await gate.promise
    return { category: 'successful', ref, rule: 'accepted' }
  })
  const { url } = await startOperator(t, { push, attributes: source, limits: { providerConcurrency: 1 } })
  const first = post(url + single, element())
  await until(() => push.received.length === 1, { what: 'the only slot is taken' })
  const claimed = event('message.claimed')
  const second = post(url + single, element({ user_id: '1002' }))
  await claimed
  holders.add('1002')
  gate.resolve()
  assert.equal((await first).status, 200)
  assert.equal((await second).status, 422)
  assert.equal(push.received.length, 1)
})

test('an operator does not start without somebody who says who must not be messaged', async (t) => {
  const options = {
    store: `sqlite:${await temporary(t)}/o.db`,
    keys: [{ name: 'a', key: 'the-key-of-brand-a', brands: ['1'] }],
  }
  assert.throws(
    () => createOperator(options),
    /attributes: no source of blocked users and consent is set\n.*suppression: 'none'/,
  )
  const useless = createOperator({ ...options, attributes: functionSource(['consent_sms'], () => []) })
  await assert.rejects(useless.start(), /knows none of blocked, excluded/)
})

/** A source of excluded that keeps its questions; those in `holders` are excluded. */
function counting() {
  const questions: { brand: string; users: readonly string[] }[] = []
  const holders = new Set<string>()
  const source = functionSource(['excluded'], (brand, users) => {
    questions.push({ brand, users })
    return users.filter((user) => holders.has(user))
  })
  return { source, questions, holders }
}
