// Suppression (docs/contributing/decisions.md) over HTTP: checked right before the call, cached no longer than allowed.

import assert from 'node:assert/strict'
import test from 'node:test'
import { messageKey } from '../../src/contract/message-key.ts'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import type { AttributeSource, Field } from '../../src/subjects/attributes/attribute-source.ts'
import { functionSource } from '../../src/subjects/attributes/function.ts'
import { sqlSource } from '../../src/subjects/attributes/sql.ts'
import { createSuppression, type SuppressionOptions } from '../../src/subjects/delivery/suppress.ts'
import type { Channel, Message } from '../../src/subjects/providers/provider.ts'
import { messages } from '../suites/provider.ts'
import { onPostgres } from '../support/engines.ts'
import { createPlayers, playerQueries } from '../support/players.ts'
import { element, get, post, startOperator, temporary, witness } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'

const single = '/channels/push/single'
const neverAborted = new AbortController().signal

onPostgres(
  'a user who is excluded after a successful send gets no further message; the first message keeps its identifier',
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
    assert.equal((await post(url + single, element({ brand_id: 2 }))).status, 200, 'user 1001 of the other brand')
    assert.equal(push.received.length, 2)
    await database.exclude('1', '1001', false)
    assert.equal((await post(url + single, element())).status, 200, 'the end of an exclusion takes effect at once')
  },
)

test('the evidence of a refusal has its reason', async (t) => {
  const { url } = await startOperator(t, { attributes: functionSource(['excluded'], (_brand, users) => users) })
  const refused = event('message.settled', ({ category }) => category === 'failed')
  await post(url + single, element())
  const { ref } = await refused
  const { body } = await get(`${url}/admin/messages/${ref}`)
  assert.equal(body.outcome, 'failed')
  assert.equal(body.rule, 'suppression: the user is excluded')
  assert.match(body.refusals[0].error, /not sent: the user is excluded/)
})

test('a source that answers after its timeout counts as unavailable: nothing is sent', async (t) => {
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

onPostgres('a replica with data older than max_lag counts as unavailable', async (t, store) => {
  const database = await createPlayers(store)
  await database.run('create table heartbeat (at timestamptz)')
  await database.run("insert into heartbeat values ('2026-01-01T00:00:00Z')")
  await database.add('1001')
  const source = sqlSource({
    database: store,
    queries: playerQueries,
    asOf: 'select max(at) from heartbeat',
    maxLagMs: 60_000,
  })
  t.after(() => source.close?.())
  const look = { deadline: Date.now() + 10_000, signal: neverAborted }
  await assert.rejects(source.among('1', ['1001'], ['excluded'], look), /ms old; max_lag is 60000 ms/)
  const { timestamp, chunks } = await (source.all as NonNullable<typeof source.all>)('1', 'excluded', {
    signal: neverAborted,
  })
  for await (const _ of chunks);
  assert.equal(Date.parse(timestamp), Date.parse('2026-01-01T00:00:00Z'), 'the list carries the time of its data')
  await database.run(`update heartbeat set at = '${new Date().toISOString()}'`)
  assert.equal((await source.among('1', ['1001'], ['excluded'], look)).get('excluded')?.size, 0)
})

test('an answer without one of the fields, or with ids as numbers, is refused, and nothing is sent', async (t) => {
  const none = new Set<unknown>()
  for (const answer of [{ blocked: none }, { blocked: new Set([1001]), excluded: none }]) {
    const among = async () => new Map(Object.entries(answer))
    const source = { ...functionSource(['blocked', 'excluded'], () => []), among } as AttributeSource
    const { url } = await startOperator(t, { attributes: source })
    const { status, body } = await post(url + single, element())
    assert.equal(status, 503)
    assert.match(body.error, /not a Map with a Set of user ids, as strings, for each of blocked, excluded/)
  }
})

test('no message is sent to a brand for which the source has no fields', async (t) => {
  const source = {
    ...functionSource(['blocked'], () => []),
    fieldsOf: (brand: string) => (brand === '1' ? ['blocked'] : []) as Field[],
  }
  const { url } = await startOperator(t, { attributes: source })
  assert.equal((await post(url + single, element())).status, 200)
  const answer = await post(url + single, element({ brand_id: 2 }))
  assert.equal(answer.status, 503)
  assert.match(answer.body.error, /it has no fields for the users of brand 2/)
})

test('the messages of one turn are one look-up for each brand', async () => {
  const { source, lookUps } = recordingSource()
  const suppression = createSuppression(source, neverAborted)
  const sent = [...messages(50), ...messages(50).map((m) => ({ ...m, brand: '2' }))]
  await Promise.all(sent.map(suppression.checkMessage))
  assert.equal(lookUps.length, 2)
  assert.deepEqual(lookUps.map(({ brand }) => brand).toSorted(), ['1', '2'])
})

test('every message is looked up again: neither a permission nor a refusal is cached', async () => {
  const { source, lookUps } = recordingSource()
  const suppression = createSuppression(source, neverAborted)
  const [message] = messages(1) as [Message]
  for (let i = 0; i < 3; i++) assert.equal((await suppression.checkMessage(message)).refusal, undefined)
  assert.equal(lookUps.length, 3)
})

test('a message that waits for a slot is checked after the wait', async (t) => {
  const { source, excluded } = recordingSource()
  const gate = Promise.withResolvers<void>()
  const push = witness(async ({ ref }) => {
    await gate.promise
    return { category: 'successful', ref, rule: 'accepted' }
  })
  const { url } = await startOperator(t, { push, attributes: source, limits: { providerConcurrency: 1 } })
  const first = post(url + single, element())
  await until(() => push.received.length === 1, { awaited: 'the only slot is occupied' })
  const claimed = event('message.claimed')
  const second = post(url + single, element({ user_id: '1002' }))
  await claimed
  excluded.add('1002')
  gate.resolve()
  assert.equal((await first).status, 200)
  assert.equal((await second).status, 422)
  assert.equal(push.received.length, 1)
})

test('a message that waits for the rate of its provider is checked after the wait', async (t) => {
  const { source, excluded } = recordingSource()
  const push = { ...witness(undefined, 1), callsPerSecond: 0.5 }
  const { url } = await startOperator(t, { push, attributes: source })
  const first = element()
  const second = element({ user_id: '1002' })
  const answered = post(`${url}/channels/push/batch`, [first, second])
  await until(() => push.received.length === 1, { awaited: 'the first message is sent' })
  excluded.add('1002')
  await answered
  await until(async () => (await post(url + single, second)).status === 422, { awaited: 'the second one is refused' })
  assert.equal(push.received.length, 1)
})

test('an operator without a source for suppression does not start', async (t) => {
  const options = {
    store: `sqlite:${await temporary(t)}/o.db`,
    keys: [{ name: 'a', key: 'the-key-of-brand-a', brands: ['1'] }],
  }
  assert.throws(
    () => createOperator(options),
    /attributes: no source of blocked users and consent is set\n.*suppression: 'none'/,
  )
  const useless = createOperator({ ...options, attributes: functionSource(['consent_sms'], () => []) })
  await assert.rejects(useless.start(), /has none of the fields blocked, excluded/)
})

/** A source of the field `excluded` that records its look-ups. */
function recordingSource() {
  const lookUps: { brand: string; users: readonly string[] }[] = []
  const excluded = new Set<string>()
  const source = functionSource(['excluded'], (brand, users) => {
    lookUps.push({ brand, users })
    return users.filter((user) => excluded.has(user))
  })
  return { source, lookUps, excluded }
}

const allFields = ['blocked', 'excluded', 'active', 'consent_push_notification', 'consent_site_notification'] as const

/** A user whose name lists the fields that are true: 'active consent_push_notification'. */
const byName = (known: readonly Field[] = allFields): AttributeSource =>
  functionSource(known, (_brand, users, field) => users.filter((user) => user.split(' ').includes(field)), 'names')

const [model] = messages(1) as [Message]
const messageTo = (userId: string, channel: Channel = 'push', activityId = '5', triggerHash = 'hash'): Message => ({
  ...model,
  userId,
  channel,
  key: messageKey(channel, { id: '1', userId, activityId, actionId: null, triggerHash }),
})

/** The error of a message to this user, or 'sent'. */
async function outcomeOf(message: Message, options?: SuppressionOptions, source = byName()): Promise<string> {
  const { refusal: outcome } = await createSuppression(source, neverAborted, options).checkMessage(message)
  return outcome ? `${outcome.category}: ${outcome.error}` : 'sent'
}

test('an inactive player with consent can be won back; only a setting suppresses inactive players', async () => {
  const player = messageTo('consent_push_notification')
  assert.equal(await outcomeOf(player), 'sent')
  const fields = ['blocked', 'excluded', 'active', 'consent_push_notification'] as const
  assert.equal(await outcomeOf(player, { fields }), 'failed: not sent: the user is not active')
  assert.equal(await outcomeOf(messageTo('active consent_push_notification'), { fields }), 'sent')
})

test('by default, each channel needs its own consent', async () => {
  const [push, site] = ['consent_push_notification', 'consent_site_notification']
  assert.equal(await outcomeOf(messageTo(push, 'push')), 'sent')
  assert.equal(await outcomeOf(messageTo(push, 'site')), `failed: not sent: the user has not given ${site}`)
  assert.equal(await outcomeOf(messageTo(site, 'push')), `failed: not sent: the user has not given ${push}`)
  assert.equal(await outcomeOf(messageTo('', 'push'), { fields: ['blocked'] }), 'sent', 'no consent is listed')
})

test('blocked and excluded suppress every message: unlisted, exempt, or allowed by a rule', async () => {
  const options: SuppressionOptions = {
    fields: ['active'],
    exempt: { activities: ['5'] },
    rule: () => undefined,
  }
  assert.equal(await outcomeOf(messageTo('active blocked'), options), 'failed: not sent: the user is blocked')
  assert.equal(await outcomeOf(messageTo('active excluded'), options), 'failed: not sent: the user is excluded')
})

test('a service message needs no consent, and only that one', async () => {
  for (const exempt of [{ activities: ['7'] }, { triggerHashes: ['login'] }]) {
    const suppression = createSuppression(byName(), neverAborted, { exempt })
    const campaign = messageTo('nobody')
    assert.equal((await suppression.checkMessage(campaign)).refusal?.category, 'failed')
    assert.equal((await suppression.checkMessage(messageTo('nobody', 'push', '7', 'login'))).refusal, undefined)
    assert.equal((await suppression.checkMessage(campaign)).refusal?.category, 'failed')
    assert.equal(await suppression.mayRead('1', 'nobody'), true, 'a service message in the inbox can be read')
    assert.equal(await suppression.mayRead('1', 'nobody blocked'), false)
  }
  assert.equal(await createSuppression(byName(), neverAborted).mayRead('1', 'nobody'), false)
})

test('a rule of one’s own refuses with its reason; if it throws, is late or answers nonsense, nothing is sent', async () => {
  const player = messageTo('consent_push_notification')
  const asked: unknown[] = []
  const rule: SuppressionOptions['rule'] = (message) => {
    asked.push(message)
    return message.activityId === '5' ? 'the user takes a break' : undefined
  }
  assert.equal(await outcomeOf(player, { rule }), 'failed: not sent: the user takes a break')
  assert.equal(await outcomeOf(messageTo('consent_push_notification', 'push', '6'), { rule }), 'sent')
  assert.equal(await outcomeOf(messageTo('blocked'), { rule }), 'failed: not sent: the user is blocked')
  assert.equal(asked.length, 2, 'the rule is asked only about messages that the fields allow')
  const broken: readonly [NonNullable<SuppressionOptions['rule']>, RegExp][] = [
    [() => Promise.reject(new Error('no database')), /^fatal: .*suppression.module cannot answer \(no database\)/],
    [() => true as never, /^fatal: .*it returned true: return a reason/],
    [() => '', /^fatal: .*it returned ""/],
  ]
  for (const [each, expected] of broken) assert.match(await outcomeOf(player, { rule: each }), expected)
  const silent = { rule: () => new Promise<undefined>(() => {}), timeoutMs: 50 }
  assert.match(await outcomeOf(player, silent), /^fatal: .*no answer within 50 ms/)
})

test('a field of the settings that the source lacks is refused at the start, or nothing is sent to that brand', async () => {
  const few = byName(['blocked', 'consent_push_notification'])
  assert.equal(await outcomeOf(messageTo('consent_push_notification'), undefined, few), 'sent', 'by default')
  assert.throws(
    () => createSuppression(few, neverAborted, { fields: ['active'] }),
    /names active, which names does not have/,
  )
  assert.throws(
    () => createSuppression(few, neverAborted, { fields: ['consent_email'] }),
    /consent_email suppresses nothing/,
  )
  const partly = { ...byName(), fieldsOf: (): Field[] => ['blocked', 'consent_push_notification'] }
  assert.match(
    await outcomeOf(messageTo('consent_push_notification'), { fields: ['active'] }, partly),
    /^fatal: .*it has no active for the users of brand/,
  )
})
