import assert from 'node:assert/strict'
import test from 'node:test'
import { clock } from '../../src/base/runtime/clock.ts'
import type { Events } from '../../src/base/runtime/events.ts'
import { on } from '../../src/base/runtime/events.ts'
import { guardService, type SendChecks, type ServiceGuardOptions } from '../../src/subjects/delivery/service-guard.ts'
import type { DeviceAnswer, Push, PushService } from '../../src/subjects/providers/push-service.ts'
import { accepted, away, device, gone, mismatch, witnessService, wrongKey } from '../support/push-services.ts'
import { hourMs, passTime, setClock } from '../support/set-clock.ts'
import { until } from '../support/wait.ts'

const push = (n = 1): Push => ({
  ref: `r-${n}`,
  device: device({ token: `t-${n}` }),
  content: { title: 'Hello' },
  expiresAt: clock.now() + 60_000,
})
const context = (ms = 10_000) => ({ deadline: clock.now() + ms, signal: new AbortController().signal })
const noChecks: SendChecks = { findRefusal: () => undefined, findLateRefusal: () => undefined }
const breaker = { after: 3, firstMs: 30, mostMs: 30 }

/** A service that returns these answers in order, and then the last one forever. */
function scripted(...answers: DeviceAnswer[]) {
  let next = 0
  return witnessService('apns', () => answers[Math.min(next++, answers.length - 1)] as DeviceAnswer)
}
function guarded(service: PushService, options: ServiceGuardOptions = {}) {
  const guard = guardService(service, { breaker, ...options })
  return async (n = 1, checks = noChecks, ms = 10_000) => (await guard.send(push(n), context(ms), checks)).answer
}
function record<Name extends 'provider.alert' | 'provider.paused' | 'provider.resumed'>(
  t: test.TestContext,
  name: Name,
) {
  const seen: Events[Name][] = []
  t.after(on(name, (event) => seen.push(event)))
  return seen
}

test('an exception and a malformed answer are fatal, and are no evidence against the token', async () => {
  const malformed: unknown[] = [
    undefined,
    null,
    {},
    [],
    { ...gone, token: 'dead' },
    { ...gone, goneSince: 'x' },
    { ...accepted, providerId: 7 },
  ]
  for (const answer of malformed) {
    const result = await guarded(witnessService('apns', () => answer as DeviceAnswer))()
    assert.partialDeepStrictEqual(result, { category: 'fatal', reason: 'nonsense', uncertain: true })
    assert.equal(result.token, undefined)
  }
  const thrown = await guarded(witnessService('apns', () => Promise.reject(new Error('socket'))))()
  assert.partialDeepStrictEqual(thrown, { category: 'fatal', reason: 'nonsense', uncertain: true })
  const throwing = {
    ...witnessService('apns'),
    send: () => {
      throw new Error('thrown synchronously')
    },
  }
  assert.equal((await guarded(throwing)()).category, 'fatal')
})

test('a service that never answers delays one message only, for no longer than its timeout; the message is uncertain', async () => {
  const deadlines: number[] = []
  const silent: PushService = {
    ...witnessService('apns'),
    send: ({ device: { token } }, context) => {
      deadlines.push(context.deadline)
      return token === 't-1' ? new Promise(() => {}) : Promise.resolve(accepted)
    },
  }
  const send = guarded(silent, { timeoutMs: 50 })
  const [hung, other] = await Promise.all([send(1), send(2)])
  assert.partialDeepStrictEqual(hung, { category: 'fatal', reason: 'timeout', blame: 'provider', uncertain: true })
  assert.equal(other.category, 'successful')
  assert.ok(deadlines.every((deadline) => deadline <= Date.now() + 50))
})

test('the concurrency limit of the service is kept; a push that waits past the deadline or exceeds the queue is fatal and not sent', async () => {
  const gate = Promise.withResolvers<DeviceAnswer>()
  const service = witnessService('apns', () => gate.promise, { concurrency: 2 })
  const send = guarded(service, { waiting: 2 })
  const running = [send(1), send(2), send(3)]
  const late = send(4, noChecks, 50)
  assert.partialDeepStrictEqual(await send(5), { category: 'fatal', reason: 'overloaded', retryAfterMs: 1_000 })
  const tooLate = await late
  assert.partialDeepStrictEqual(tooLate, { category: 'fatal', reason: 'timeout' })
  assert.equal('uncertain' in tooLate, false)
  assert.equal(service.received.length, 2)
  gate.resolve(accepted)
  assert.ok((await Promise.all(running)).every(({ category }) => category === 'successful'))
  assert.equal(service.received.length, 3)
})

test('Retry-After pauses the service at once: other pushes are fatal meanwhile, and one probe ends the pause', async (t) => {
  const paused = record(t, 'provider.paused')
  const gate = Promise.withResolvers<DeviceAnswer>()
  const limited = { ...away, reason: 'rate_limited', retryAfterMs: 60_000 } as const
  let calls = 0
  const service = witnessService('apns', () => (calls++ === 0 ? limited : gate.promise))
  const send = guarded(service)
  assert.equal((await send()).category, 'fatal')
  const meanwhile = await send()
  assert.partialDeepStrictEqual(meanwhile, { category: 'fatal', blame: 'provider' })
  const { retryAfterMs = 0 } = meanwhile as { retryAfterMs?: number }
  assert.ok(retryAfterMs > 0 && retryAfterMs <= 60_000)
  assert.deepEqual(
    paused.map(({ forMs }) => forMs),
    [60_000],
  )
  passTime(t, 60_000)
  const pushes = Array.from({ length: 20 }, (_, i) => send(i))
  await until(() => service.received.length > 1, { awaited: 'the probe' })
  gate.resolve(accepted)
  const answers = await Promise.all(pushes)
  assert.equal(service.received.length, 2, 'only the probe was sent')
  assert.equal(answers.filter(({ category }) => category === 'successful').length, 1)
  assert.equal((await send()).category, 'successful')
})

test('pushes that are waiting when the service pauses are fatal and not sent', async () => {
  const gate = Promise.withResolvers<DeviceAnswer>()
  const service = witnessService('apns', () => gate.promise, { concurrency: 1 })
  const send = guarded(service)
  const waiting = [send(1), send(2), send(3)]
  gate.resolve({ ...away, retryAfterMs: 60_000 })
  assert.ok((await Promise.all(waiting)).every(({ category }) => category === 'fatal'))
  assert.equal(service.received.length, 1)
})

test('while a probe is in flight, other pushes are refused at once and do not wait for its slot', async (t) => {
  const gate = Promise.withResolvers<DeviceAnswer>()
  let calls = 0
  const answers = () => (calls++ === 0 ? { ...away, retryAfterMs: 60_000 } : gate.promise)
  const send = guarded(witnessService('apns', answers, { concurrency: 1 }))
  await send()
  passTime(t, 60_000)
  const probe = send()
  await until(() => calls === 2, { awaited: 'the probe' })
  assert.partialDeepStrictEqual(await send(), { category: 'fatal', reason: 'unavailable' })
  gate.resolve(accepted)
  assert.equal((await probe).category, 'successful')
})

test('a wrong credential pauses sending with one alert, loses no message, and is retried automatically', async (t) => {
  const alerts = record(t, 'provider.alert')
  const resumed = record(t, 'provider.resumed')
  const service = scripted(wrongKey, wrongKey, accepted)
  const send = guarded(service)
  const answers: DeviceAnswer[] = []
  await until(async () => answers.push(await send()) && answers.at(-1)?.category === 'successful', {
    awaited: 'accepted',
  })
  assert.equal(service.received.length, 3)
  assert.ok(answers.slice(0, -1).every((answer) => answer.category === 'fatal' && answer.reason === 'misconfigured'))
  assert.equal(alerts.length, 1)
  assert.match(alerts[0]?.remedy ?? '', /do what the error says/)
  assert.equal(resumed.length, 1)
})

test('a mismatch pauses the service until the credential has had an accepted send; then it concerns one device only', async () => {
  const service = scripted(mismatch, accepted, mismatch)
  const send = guarded(service)
  assert.partialDeepStrictEqual(await send(), { category: 'fatal', reason: 'misconfigured' })
  await until(async () => (await send()).category === 'successful', { awaited: 'the probe' })
  assert.partialDeepStrictEqual(await send(), { category: 'failed', token: 'mismatch' })
  assert.equal(service.received.length, 3)
})

test('after a restart, only invalid tokens of several users pause the service', async (t) => {
  const paused = record(t, 'provider.paused')
  const users = Array.from({ length: breaker.after }, (_, i) => `user ${i}`)
  const guard = guardService(
    witnessService('apns', () => mismatch),
    { breaker },
  )
  const sendTo = async (userId: string, token: string) => {
    const toUser = { ...push(), device: device({ userId, token }) }
    return (await guard.send(toUser, context(), noChecks)).answer
  }
  for (let i = 0; i < 10; i++)
    assert.partialDeepStrictEqual(await sendTo('mallory', `invalid ${i}`), {
      category: 'fatal',
      reason: 'misconfigured',
    })
  assert.equal(paused.length, 0)
  for (const user of users.slice(1)) await sendTo(user, user)
  assert.equal(paused.length, 1, 'several users: the credential is wrong')
})

test('a working credential is not paused by one device that refuses it, but by several refusals in a row', async (t) => {
  const paused = record(t, 'provider.paused')
  const alerts = record(t, 'provider.alert')
  let broken = false
  const send = guarded(
    witnessService('apns', ({ device: { token } }) => (token === 't-0' || broken ? wrongKey : accepted)),
  )
  for (let i = 0; i < 12; i++) {
    const answer = await send((i + 1) % 2)
    assert.equal(answer.category, i % 2 === 0 ? 'successful' : 'fatal')
  }
  assert.equal(paused.length, 0)
  assert.equal(alerts.length, 1)
  broken = true
  for (let i = 0; i < breaker.after; i++) await send(1)
  assert.equal(paused.length, 1)
})

test('an accepted send proves the credential of its own service only', async () => {
  const [one, two] = [guarded(scripted(accepted, mismatch)), guarded(scripted(mismatch))]
  assert.equal((await one()).category, 'successful')
  assert.equal((await one()).category, 'failed')
  assert.equal((await two()).category, 'fatal')
})

test('an answer about some recipients never pauses the service once the credential was accepted, and is alerted once', async (t) => {
  const [paused, alerts] = [record(t, 'provider.paused'), record(t, 'provider.alert')]
  for (const refused of [
    { ...wrongKey, blame: 'message' },
    { ...wrongKey, concerns: 'counterpart' },
    { ...wrongKey, concerns: 'counterpart', retryAfterMs: 60_000 },
  ] as const) {
    alerts.length = 0
    const send = guarded(witnessService('fcm_token', ({ device }) => (device.token === 't-0' ? refused : accepted)))
    await send(1)
    for (let i = 0; i < 60; i++)
      assert.partialDeepStrictEqual(await send(0), { category: 'fatal', reason: 'misconfigured', blame: 'message' })
    for (let i = 1; i < 20; i++) assert.equal((await send(i)).category, 'successful')
    assert.equal(alerts.length, 1)
  }
  assert.equal(paused.length, 0)
})

test('the end of an outage does not alert again for recipients that are refused all the time', async (t) => {
  const [alerts, resumed] = [record(t, 'provider.alert'), record(t, 'provider.resumed')]
  const ofRecipient = { ...wrongKey, blame: 'message' } as const
  let broken: DeviceAnswer | undefined
  const send = guarded(
    witnessService('fcm_token', ({ device }) => (device.token === 't-0' ? ofRecipient : (broken ?? accepted))),
  )
  await send(1)
  await send(0)
  broken = { ...away, concerns: 'counterpart' }
  for (let i = 0; i < breaker.after; i++) await send(1)
  broken = undefined
  await until(async () => (await send(1)).category === 'successful', { awaited: 'the end of the pause' })
  await send(0)
  assert.deepEqual([resumed.length, alerts.length], [1, 1])
})

test('before the first accepted send, one user who is refused pauses nothing', async (t) => {
  const paused = record(t, 'provider.paused')
  const refused = { ...wrongKey, concerns: 'counterpart' } as const
  const send = guarded(witnessService('fcm_token', ({ device }) => (device.token === 't-0' ? refused : accepted)))
  for (let i = 0; i < 10; i++) assert.equal((await send(0)).category, 'fatal')
  assert.equal((await send(1)).category, 'successful')
  assert.equal(paused.length, 0)
})

test('a message that is refused for its recipient does not decide a pause: the next message is the probe', async () => {
  const ofRecipient = { ...wrongKey, blame: 'message' } as const
  let calls = 0
  const guard = guardService(
    witnessService('fcm_token', ({ device }) =>
      calls++ === 0 ? { ...away, retryAfterMs: 30 } : device.token === 't-0' ? ofRecipient : accepted,
    ),
    { breaker },
  )
  const send = async (n: number) => (await guard.send(push(n), context(), noChecks)).answer
  await send(1)
  await until(async () => (await send(0)).rule === ofRecipient.rule, { awaited: 'the end of the pause' })
  assert.equal(guard.paused, true, 'the pause was not ended')
  assert.equal((await send(0)).rule, ofRecipient.rule, 'the pause was not lengthened')
  assert.equal((await send(1)).category, 'successful')
  assert.equal(guard.paused, false)
})

/** A service with one counterpart for each app: its answers by app. */
function byApp(
  answers: Readonly<Record<string, () => DeviceAnswer | Promise<DeviceAnswer>>>,
  over: Partial<PushService> = {},
) {
  const received: string[] = []
  const guard = guardService(
    {
      ...witnessService('webpush'),
      counterpartOf: ({ app = '' }) => app,
      send: async ({ device: { app = '' } }) => {
        received.push(app)
        return (answers[app] as () => DeviceAnswer)()
      },
      ...over,
    },
    { breaker: { ...breaker, firstMs: 60_000, mostMs: 60_000 } },
  )
  let sent = 0
  const send = async (app: string, ms = 10_000) => {
    const to = { ...push(), device: device({ kind: 'webpush', userId: `u-${sent++}`, app }) }
    return (await guard.send(to, context(ms), noChecks)).answer
  }
  return { guard, send, received }
}

test('evidence is kept for each counterpart: an accepted send at one unlinks nobody at another', async () => {
  const ofKey = { ...mismatch, concerns: 'counterpart' } as const
  const { send } = byApp({ google: () => accepted, apple: () => ofKey })
  for (let i = 0; i < 200; i++) await send('google')
  for (let i = 0; i < 120; i++) {
    const answer = await send('apple')
    assert.partialDeepStrictEqual(answer, { category: 'fatal', reason: 'misconfigured' })
    assert.equal(answer.token, undefined)
  }
})

test('an answer about our claims at one counterpart pauses that counterpart alone, with one alert, and unlinks nobody', async (t) => {
  const [paused, alerts] = [record(t, 'provider.paused'), record(t, 'provider.alert')]
  const claims = { ...wrongKey, concerns: 'counterpart' } as const
  const { send, guard, received } = byApp({ google: () => accepted, apple: () => claims })
  await send('google')
  for (let i = 0; i < 20; i++) {
    assert.equal((await send('apple')).category, 'fatal')
    assert.equal((await send('google')).category, 'successful')
  }
  assert.equal(received.filter((app) => app === 'apple').length, breaker.after)
  assert.deepEqual(
    paused.map(({ provider, counterpart, sending }) => ({ provider, counterpart, sending })),
    [{ provider: 'webpush', counterpart: 'apple', sending: true }],
  )
  assert.equal(alerts.length, 1)
  assert.equal(guard.works(), true)
  assert.equal(guard.pause(device({ kind: 'webpush', app: 'google' })), undefined)
  assert.equal(guard.pause(device({ kind: 'webpush', app: 'apple' }))?.name, 'webpush apple')
})

test('a counterpart that hangs has its share of the places, and delays no other', async () => {
  const { promise: hang, resolve } = Promise.withResolvers<DeviceAnswer>()
  const { send, received } = byApp({ slow: () => hang, google: () => accepted }, { concurrency: 5, perCounterpart: 1 })
  const hung = Array.from({ length: 700 }, () => send('slow'))
  for (let i = 0; i < 20; i++) assert.equal((await send('google')).category, 'successful')
  assert.equal(received.filter((app) => app === 'slow').length, 1)
  resolve(accepted)
  await Promise.all(hung)
})

test('while a counterpart does not answer, further messages are refused at once and do not wait', async (t) => {
  let monotonic = 0
  t.mock.method(clock, 'monotonic', () => monotonic)
  const { promise: hang, resolve } = Promise.withResolvers<DeviceAnswer>()
  let answer: () => DeviceAnswer | Promise<DeviceAnswer> = () => hang
  const { send, guard, received } = byApp(
    { slow: () => answer(), google: () => accepted },
    { concurrency: 100, perCounterpart: 20 },
  )
  await send('google')
  const hung = Array.from({ length: breaker.after }, () => send('slow'))
  await until(() => received.length === 1 + breaker.after, { awaited: 'the sends in flight' })
  monotonic = 1_000
  assert.partialDeepStrictEqual(await send('slow'), { category: 'fatal', retryAfterMs: 1_000, blame: 'provider' })
  assert.equal(guard.pause(device({ kind: 'webpush', app: 'slow' }))?.restMs, 1_000)
  assert.equal((await send('google')).category, 'successful')
  assert.equal(guard.works(), true)
  answer = () => accepted
  resolve(accepted)
  await Promise.all(hung)
  assert.equal((await send('slow')).category, 'successful')
})

test('a counterpart that fails several times in a row gets one probe at a time', async () => {
  const lost = { ...away, reason: 'timeout', concerns: 'counterpart' } as const
  const { send, received } = byApp({ slow: () => lost, google: () => accepted })
  await send('google')
  for (let i = 0; i < 50; i++) assert.partialDeepStrictEqual(await send('slow'), { category: 'fatal' })
  assert.equal(received.filter((app) => app === 'slow').length, breaker.after)
  assert.equal((await send('google')).category, 'successful')
})

test('counterparts are user input, and only the 256 that were used last are remembered', async () => {
  const { send, guard } = byApp(new Proxy({}, { get: () => () => accepted }))
  for (let i = 0; i < 1_000; i++) await send(`host-${i}`)
  assert.equal(guard.counterparts, 256)
})

test('a push that the last checks refuse is not sent, and does not count as a probe', async () => {
  const service = scripted({ ...away, retryAfterMs: 30 }, accepted)
  const send = guarded(service)
  await send()
  const refusal: DeviceAnswer = { category: 'failed', reason: 'suppressed', rule: 'no', error: 'no' }
  const refusing: readonly Partial<SendChecks>[] = [
    { findRefusal: () => refusal },
    { findRefusal: async () => refusal },
    { findLateRefusal: () => refusal },
  ]
  for (const checks of refusing) {
    const answer = await until(
      async () => {
        const found = await send(1, { ...noChecks, ...checks })
        return found.rule.endsWith('paused') ? undefined : found
      },
      { awaited: 'the push is admitted as the probe' },
    )
    assert.equal(answer.rule, refusal.rule)
  }
  assert.equal(service.received.length, 1)
  assert.equal((await until(() => send(), { awaited: 'the probe' })).category, 'successful')
})

test('the rate of the service is kept; a push that cannot be sent before its deadline is fatal with the time until there is room', async () => {
  const sentAt: number[] = []
  const service = {
    ...witnessService('apns', () => {
      sentAt.push(Date.now())
      return accepted
    }),
    perSecond: 20,
  }
  const send = guarded(service)
  const pushes = Array.from({ length: 12 }, (_, n) => send(n))
  const refused = await send(99, noChecks, 300)
  assert.partialDeepStrictEqual(refused, { category: 'fatal', reason: 'overloaded', blame: 'provider' })
  const { retryAfterMs = 0 } = refused as { retryAfterMs?: number }
  assert.ok(retryAfterMs >= 1_000, `${retryAfterMs}`)
  assert.ok((await Promise.all(pushes)).every(({ category }) => category === 'successful'))
  const [first = 0] = sentAt
  assert.ok((sentAt.at(-1) ?? 0) - first >= 400, 'a burst of three, then one every 50 ms')
  assert.equal(service.received.length, 12)
})

test('a refusal for the quota halves the rate after the pause, once for all pushes in flight', async (t) => {
  const slowed: Events['provider.slowed'][] = []
  t.after(on('provider.slowed', (event) => slowed.push(event)))
  const gate = Promise.withResolvers<void>()
  const limitedAnswer = { ...away, reason: 'rate_limited', retryAfterMs: 30 } as const
  const sentAt: number[] = []
  const service = {
    ...witnessService('apns', async () => {
      sentAt.push(Date.now())
      if (sentAt.length > 3) return accepted
      await gate.promise
      return limitedAnswer
    }),
    perSecond: 30,
  }
  const send = guarded(service)
  const refused = [send(1), send(2), send(3)]
  await until(() => sentAt.length === 3, { awaited: 'three pushes in flight' })
  gate.resolve()
  assert.ok((await Promise.all(refused)).every(({ category }) => category === 'fatal'))
  assert.deepEqual(
    slowed.map(({ provider, perSecond }) => ({ provider, perSecond })),
    [{ provider: 'apns', perSecond: 10 }],
    'three sends were observed, and ten a second is the least',
  )
  await until(async () => (await send(4)).category === 'successful', { awaited: 'the end of the pause' })
  const from = sentAt.length
  await Promise.all([5, 6, 7, 8].map((n) => send(n)))
  const gaps = sentAt.slice(from).map((at, i) => at - (sentAt[from + i - 1] as number))
  assert.ok(Math.max(...gaps) >= 90, `${gaps}`)
})

for (const hours of [-3, 3])
  test(`a pause that the service asked for is kept, although the clock is set by ${hours} h`, async (t) => {
    const send = guarded(scripted({ ...away, retryAfterMs: 60_000 }, accepted))
    await send()
    setClock(t, hours * hourMs)
    const paused = await send()
    assert.ok(paused.category === 'fatal' && (paused.retryAfterMs ?? 0) <= 60_000, JSON.stringify(paused))
    passTime(t, 61_000)
    assert.equal((await send()).category, 'successful')
  })
